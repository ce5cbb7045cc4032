# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for a family of methods, on the armature: ``object.sinew_<family>``.

Families that have more to set bring a group of their own under that name (``OWN``); it has these fields too, as far as
their methods need them.
"""

from typing import Any

import bpy
from bpy.props import IntProperty, PointerProperty
from bpy.props import StringProperty as Text

from ...core.control import registry
from ...core.control.method import Product
from ...core.control.registry import Family

OWN = ("graph", "bounds", "direct", "respond")
_EDITABLE = {"LIBRARY_OVERRIDABLE"}
_COMMON: dict[str, Any] = {"options": set(), "override": _EDITABLE}


def _is_curve(self: Any, obj: bpy.types.Object) -> bool:
    return obj.type == "CURVE"


def _places() -> dict[str, Any]:
    """For methods that may be told where to go."""
    return {
        "goals": PointerProperty(
            type=bpy.types.Collection,
            name="Goals",
            description="The collection whose objects are gone to in turn, by their names; in a crowd each its own",
            override=_EDITABLE,
        ),
        "curve": PointerProperty(
            type=bpy.types.Object,
            poll=_is_curve,
            name="Curve",
            description="The curve to go along, instead of goals",
            override=_EDITABLE,
        ),
    }


def _group(family: Family) -> type[bpy.types.PropertyGroup]:
    fields = {
        "file": Text(
            name="Learned File",
            description="The file with what was learned; // at its beginning is the folder of the .blend",
            subtype="FILE_PATH",
            options={"PATH_SUPPORTS_BLEND_RELATIVE"},
            override=_EDITABLE,
        ),
        "actions": Text(
            name="Actions",
            description="Names of the Actions to learn from, with commas; a * stands for anything. Empty for all",
            **_COMMON,
        ),
        "seed": IntProperty(
            name="Seed", description="The same seed learns the same; another one gives another try", min=0, **_COMMON
        ),
        "bake_seed": IntProperty(
            name="Seed", description="The same seed bakes the same; another one gives another take", min=0, **_COMMON
        ),
        "frame_start": IntProperty(
            name="First Frame",
            description="Where the baked motion begins; the character starts where it stands then",
            default=1,
            min=-1048574,
            max=1048574,
            **_COMMON,
        ),
    }
    bakes = family.method(Product.TAKE)
    if bakes is not None and bakes.goes_to_places:
        fields |= _places()
    name = f"SINEW_PG_{family.name}"
    doc = f"What was learned for one character by '{family.label}', and what is to be baked from it"
    return type(name, (bpy.types.PropertyGroup,), {"__annotations__": fields, "__doc__": doc})


_FAMILIES = [family for family in registry.families() if family.name not in OWN]
_GROUPS = {family.name: _group(family) for family in _FAMILIES}


def register() -> None:
    """Give every object what families without a group of their own need."""
    for family in _FAMILIES:
        group = _GROUPS[family.name]
        bpy.utils.register_class(group)
        pointer = PointerProperty(
            type=group,
            name=family.label,
            description="What was learned for the character, and what is to be baked from it",
            override=_EDITABLE,
        )
        setattr(bpy.types.Object, f"sinew_{family.name}", pointer)


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    for family in reversed(_FAMILIES):
        delattr(bpy.types.Object, f"sinew_{family.name}")
        bpy.utils.unregister_class(_GROUPS[family.name])
