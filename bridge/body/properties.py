# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator says about a character's body, kept on its armature object as ``object.sinew_body``."""

from pathlib import Path

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...core.body.part_edit import STIFFNESS
from ...core.body.presets import body_preset, body_presets, gain_preset, gain_presets
from ...core.control.character import BodyChoices, override_choices
from ..scene.settings_groups import enum_items
from .edits import AUTO

_DEFAULT = BodyChoices()
_EDITABLE = {"LIBRARY_OVERRIDABLE"}  # characters are often linked from a file of their own
_ROLES = ((AUTO, "As Found", "Whatever its name and place in the skeleton say"), *override_choices())
# The numbers stand in files.
_SHAPES = (
    ("capsule", "Capsule", "Round and long, as limbs are", "MESH_CAPSULE", 0),
    ("box", "Box", "Flat and with corners, as feet, hands and chests are", "MESH_CUBE", 1),
    ("sphere", "Sphere", "A ball", "MESH_UVSPHERE", 2),
)
_ROOT = str(Path(__file__).resolve().parents[2])  # Blender looks for presets/sinew/body below it
_preset_paths: list[str] = []


class SINEW_PG_bone_override(bpy.types.PropertyGroup):
    """What one bone is told to be: its role, and what its part of the body is like, where that is ticked.

    Lengths and masses have no Blender unit: those would follow the scene's unit scale, and physics does not.
    """

    name: StringProperty(name="Bone", description="The bone's name", options=set(), override=_EDITABLE)
    role: EnumProperty(
        items=enum_items(_ROLES),
        name="Role",
        description="What the bone is in the body, whatever its name and place say",
        default="ride",
        options=set(),
        override=_EDITABLE,
    )
    use_shape: BoolProperty(
        name="Shape",
        description="Give the part a shape by hand rather than the fitted one",
        options=set(),
        override=_EDITABLE,
    )
    shape: EnumProperty(
        items=_SHAPES, name="Shape", description="What the part collides as", options=set(), override=_EDITABLE
    )
    radius: FloatProperty(
        name="Radius (m)",
        description="How thick a capsule or how large a ball is, in metres",
        default=0.05,
        min=0.001,
        soft_max=0.5,
        max=50.0,
        precision=3,
        step=1,
        options=set(),
        override=_EDITABLE,
    )
    length: FloatProperty(
        name="Length (m)",
        description="How long a capsule is from tip to tip, round ends included, in metres",
        default=0.3,
        min=0.002,
        soft_max=2.0,
        max=99.0,
        precision=3,
        step=1,
        options=set(),
        override=_EDITABLE,
    )
    edges: FloatVectorProperty(
        name="Edges (m)",
        description="How long the box is along each of its own axes, in metres",
        size=3,
        default=(0.1, 0.1, 0.1),
        min=0.001,
        soft_max=2.0,
        max=99.0,
        precision=3,
        step=1,
        options=set(),
        override=_EDITABLE,
    )
    use_offset: BoolProperty(
        name="Place",
        description="Move the part from where it was fitted",
        options=set(),
        override=_EDITABLE,
    )
    offset: FloatVectorProperty(
        name="Offset (m)",
        description="How far the part is moved along the bone's own axes, in metres; Y is along the bone",
        size=3,
        soft_min=-1.0,
        soft_max=1.0,
        min=-99.0,
        max=99.0,
        precision=3,
        step=1,
        options=set(),
        override=_EDITABLE,
    )
    use_mass: BoolProperty(
        name="Mass",
        description="Weigh the part by hand. Where the whole body's mass is given, the other parts make up for it",
        options=set(),
        override=_EDITABLE,
    )
    mass_kg: FloatProperty(
        name="Mass (kg)",
        description="What the part weighs, in kilograms",
        default=1.0,
        min=0.001,
        soft_max=50.0,
        max=9e4,
        precision=2,
        step=10,
        options=set(),
        override=_EDITABLE,
    )
    use_limits: BoolProperty(
        name="Limits",
        description="Say how far the joint goes; the simulated body keeps to it also where the motion does not",
        options=set(),
        override=_EDITABLE,
    )
    is_hinge: BoolProperty(
        name="Hinge",
        description="Whether the joint bends about one axis, so that it has a lower and an upper limit",
        options=set(),
        override=_EDITABLE,
    )
    lower: FloatProperty(
        name="Least Bend",
        description="How far the joint may be overstretched (below zero), or must stay bent",
        default=-0.17,
        min=-3.14,
        max=3.14,
        subtype="ANGLE",
        options=set(),
        override=_EDITABLE,
    )
    upper: FloatProperty(
        name="Most Bend",
        description="How far the joint bends",
        default=2.6,
        min=-3.14,
        max=3.14,
        subtype="ANGLE",
        options=set(),
        override=_EDITABLE,
    )
    reach: FloatProperty(
        name="Reach",
        description="How far the joint turns from the middle of its range, in any direction",
        default=1.5,
        min=0.01,
        max=3.14159,
        subtype="ANGLE",
        options=set(),
        override=_EDITABLE,
    )
    use_stiffness: BoolProperty(
        name="Stiffness",
        description="Make this joint weaker or stronger than the muscles preset does",
        options=set(),
        override=_EDITABLE,
    )
    stiffness: FloatProperty(
        name="Stiffness",
        description="Times what the muscles preset says, for stiffness, damping and strength alike",
        default=1.0,
        min=STIFFNESS[0],
        soft_max=4.0,
        max=STIFFNESS[1],
        precision=2,
        step=5,
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
    given: StringProperty(
        name="Given Body",
        description="A body that came with an imported model: masses, joints and limits are taken over, not fitted",
        options={"HIDDEN"},
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
    bpy.types.Object.sinew_body = PointerProperty(
        type=SINEW_PG_body, name="Body", description="The body of the character", override=_EDITABLE
    )
    if bpy.utils.register_preset_path(_ROOT):
        _preset_paths.append(_ROOT)


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    while _preset_paths:
        bpy.utils.unregister_preset_path(_preset_paths.pop())
    del bpy.types.Object.sinew_body
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
