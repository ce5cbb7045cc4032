# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator says about a character's body, kept on its armature object as ``object.sinew_body``."""

from pathlib import Path

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..core.body.presets import body_preset, body_presets, gain_preset, gain_presets
from ..core.control.character import BodyChoices, override_choices
from .properties import enum_items

_DEFAULT = BodyChoices()
_EDITABLE = {"LIBRARY_OVERRIDABLE"}  # characters are often linked from a file of their own
_ROOT = str(Path(__file__).resolve().parents[1])  # Blender looks for presets/sinew/body below it
_preset_paths: list[str] = []


class SINEW_PG_bone_override(bpy.types.PropertyGroup):
    """What one bone is told to be."""

    name: StringProperty(name="Bone", description="The bone's name", options=set(), override=_EDITABLE)
    role: EnumProperty(
        items=enum_items(override_choices()),
        name="Role",
        description="What the bone is in the body, whatever its name and place say",
        default="ride",
        options=set(),
        override=_EDITABLE,
    )


class SINEW_PG_body(bpy.types.PropertyGroup):
    """The body of one character."""

    preset: EnumProperty(
        items=enum_items((found.name, found.label, found.help) for found in map(body_preset, body_presets())),
        name="Build",
        description="How heavy the body is for its size, where no mesh tells",
        default=_DEFAULT.preset,
        options=set(),
        override=_EDITABLE,
    )
    gains: EnumProperty(
        items=enum_items((found.name, found.label, found.help) for found in map(gain_preset, gain_presets())),
        name="Muscles",
        description="How stiff and how strong the joints are for what they carry",
        default=_DEFAULT.gains,
        options=set(),
        override=_EDITABLE,
    )
    mass_kg: FloatProperty(
        name="Mass (kg)",
        description="What the whole body weighs, in kilograms; 0 for what its mesh or its build says",
        min=0.0,
        soft_max=200.0,
        max=1e5,
        precision=1,
        options=set(),
        override=_EDITABLE,
    )
    use_mesh: BoolProperty(
        name="Fit to Mesh",
        description="Shape and weigh the body after the meshes that the armature moves; else after tables of people",
        default=True,
        options=set(),
        override=_EDITABLE,
    )
    # The only one that is animated: a character may faint, and come to.
    muscle: FloatProperty(
        name="Muscle",
        description="How much of its strength the character uses: 1 is all of it, at 0 it is limp. "
        "Key it to let the character go limp and come back",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=_EDITABLE,
    )
    overrides: CollectionProperty(
        type=SINEW_PG_bone_override,
        name="Bones",
        description="Bones that are told what they are, where Sinew would guess otherwise",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    override_index: IntProperty(
        name="Active Bone", description="The bone that is chosen in the list", min=0, options=set(), override=_EDITABLE
    )


_CLASSES = (SINEW_PG_bone_override, SINEW_PG_body)


def register() -> None:
    """Give every object its ``sinew_body``, and Blender the shipped presets."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.sinew_body = PointerProperty(type=SINEW_PG_body)
    if bpy.utils.register_preset_path(_ROOT):
        _preset_paths.append(_ROOT)


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    while _preset_paths:
        bpy.utils.unregister_preset_path(_preset_paths.pop())
    del bpy.types.Object.sinew_body
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
