# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character is directed, kept on the armature: ``object.sinew_direct``. Speed and heading are keyed like any."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.props import StringProperty as Text

_EDITABLE = {"LIBRARY_OVERRIDABLE"}
_COMMON = {"options": set(), "override": _EDITABLE}
_KEYED = {"options": {"ANIMATABLE"}, "override": _EDITABLE}

# The numbers stand in files.
WAYS = (
    ("CURVE", "Along a Curve", "Goes along a curve from its beginning on", "CURVE_PATH", 0),
    ("OBJECT", "After an Object", "Goes to where an object is, which may be animated", "EMPTY_ARROWS", 1),
)
FACINGS = (
    ("ALONG", "Along the Way", "Faces where it goes", "FORWARD", 0),
    ("OBJECT", "To an Object", "Faces an object, wherever it goes", "CON_TRACKTO", 1),
    ("KEYED", "Keyed", "Faces a heading that can be keyed", "KEYFRAME", 2),
)


def _is_curve(self: Any, obj: bpy.types.Object) -> bool:
    return obj.type == "CURVE"


def _is_other(self: Any, obj: bpy.types.Object) -> bool:
    return obj != self.id_data


class SINEW_PG_direct(bpy.types.PropertyGroup):
    """What the character is told, and the library that it has."""

    file: Text(
        name="Library",
        description="The file with the library of motion; // at its beginning is the folder of the .blend",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=_EDITABLE,
    )
    begin_with: Text(
        name="Begin With",
        description="The trained library of another character: training begins with what that has learned, brought "
        "onto this body by the roles of its bones",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=_EDITABLE,
    )
    way: EnumProperty(items=WAYS, name="Go", description="Where the character goes", **_COMMON)
    curve: PointerProperty(
        type=bpy.types.Object,
        poll=_is_curve,
        name="Curve",
        description="The curve that the character goes along; it begins where the curve does",
        override=_EDITABLE,
    )
    target: PointerProperty(
        type=bpy.types.Object,
        poll=_is_other,
        name="Object",
        description="What the character goes after; it begins where it stands",
        override=_EDITABLE,
    )
    speed: FloatProperty(
        name="Speed",
        description="How fast it goes, in metres a second; it can be keyed",
        default=1.3,
        min=0.0,
        max=20.0,
        precision=2,
        **_KEYED,
    )
    style: Text(
        name="Style",
        description="Style tags of the library to move in, such as walk, or one after the other with seconds: "
        "walk 3, run 2, crouch. A + lets two be mixed: walk+turn. Empty for any",
        **_COMMON,
    )
    facing: EnumProperty(items=FACINGS, name="Face", description="Which way the character faces", **_COMMON)
    look_at: PointerProperty(
        type=bpy.types.Object,
        poll=_is_other,
        name="Object",
        description="What the character faces",
        override=_EDITABLE,
    )
    heading: FloatProperty(
        name="Heading",
        description="Which way it faces, as an angle about Z from the world's X axis; it can be keyed",
        subtype="ANGLE",
        **_KEYED,
    )
    seconds: FloatProperty(
        name="Length",
        description="How long the take lasts, in seconds",
        default=10.0,
        min=0.5,
        soft_max=120.0,
        max=3600.0,
        unit="TIME_ABSOLUTE",
        **_COMMON,
    )
    frame_start: IntProperty(
        name="First Frame",
        description="Where the take begins",
        default=1,
        min=-1048574,
        max=1048574,
        **_COMMON,
    )
    seed: IntProperty(
        name="Seed", description="The same seed trains the same; another one gives another try", min=0, **_COMMON
    )
    bake_seed: IntProperty(
        name="Seed", description="The same seed bakes the same; another one gives another take", min=0, **_COMMON
    )


def register() -> None:
    """Give every object what directing needs."""
    bpy.utils.register_class(SINEW_PG_direct)
    bpy.types.Object.sinew_direct = PointerProperty(
        type=SINEW_PG_direct, name="Direct", description="How the character is directed", override=_EDITABLE
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    del bpy.types.Object.sinew_direct
    bpy.utils.unregister_class(SINEW_PG_direct)
