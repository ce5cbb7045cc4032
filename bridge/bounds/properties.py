# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a character may be from its motion, kept on the armature: ``object.sinew_bounds``, ``sinew_bound_parts``.

Switches and widths are keyed like any property and so live in the Action. The list stands directly on the object,
because Blender 5.0 loses what a library override adds to a collection inside a group. Lengths have no Blender unit:
that would follow the scene's unit scale, and physics does not.
"""

from math import pi
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
)
from bpy.props import StringProperty as Text

from ...core.body.roles import ARM_ROLES, LEG_ROLES, MIDDLE_ROLES
from ...core.control.bounds.presets import bounds_preset
from ..rig import actions
from ..scene.viewport import redraw_viewports

PREFIX = "sinew_bound"
"""What the paths of all that is keyed here begin with."""
FACTOR = "sinew_bounds.factor"

_DEFAULT = bounds_preset("loose")
_EDITABLE = {"LIBRARY_OVERRIDABLE"}
_KEYED = {"override": _EDITABLE, "update": redraw_viewports}
_FIXED = {"options": set(), "override": _EDITABLE}
_LENGTH = {"min": 0.0, "soft_max": 1.0, "max": 100.0, "precision": 3, "step": 1}
_ANGLE = {"min": 0.0, "max": pi, "subtype": "ANGLE", "precision": 3}

# The numbers stand in files.
KINDS = (
    ("JOINT", "Joint", "How far the part may be turned from how the motion turns it", 0),
    ("EFFECTOR", "End Effector", "How far the part's end may be from where the motion has it, seen from the root", 1),
)
ONE_BONE = "BONE"
_NO_JOINT = "pelvis"  # which is the root, and has a bound of its own
PARTS = (
    (ONE_BONE, "One Bone", "A single bone, chosen by name", 0),
    *(
        (role, role.replace("_", " ").title(), f"Every {role.replace('_', ' ')} of the body, on both sides", number)
        for number, role in enumerate(
            ("chest", *(role for role in (*MIDDLE_ROLES, *ARM_ROLES, *LEG_ROLES) if role != _NO_JOINT)), start=1
        )
    ),
)
STAGES = (
    ("CLEAN", "Clean", "Alone on flat ground, whatever is on the stage", 0),
    ("STAGE", "On the Stage", "With the stage's pushes, projectiles, props, obstacles and terrain", 1),
)


def _can_move(self: Any, action: bpy.types.Action) -> bool:
    return actions.slot_for(action, self.id_data) is not None


class SINEW_PG_bound_part(bpy.types.PropertyGroup):
    """What holds for one part of the body, or one bone, instead of what holds for all joints or end effectors."""

    kind: EnumProperty(
        items=KINDS, name="Kind", description="What is bounded of the part", update=redraw_viewports, **_FIXED
    )
    part: EnumProperty(
        items=PARTS,
        name="Part",
        description="Which part of the body, on both sides",
        default="foot",
        update=redraw_viewports,
        **_FIXED,
    )
    bone: Text(name="Bone", description="The bone, where it is a single one", update=redraw_viewports, **_FIXED)
    use: BoolProperty(
        name="Bound", description="Hold the part within its bound; else it is free", default=True, **_KEYED
    )
    angle: FloatProperty(
        name="Angle", description="How far it may be turned to either side", default=_DEFAULT.root, **_KEYED, **_ANGLE
    )
    reach: FloatProperty(
        name="Reach (m)", description="How far its end may be away, in metres", default=0.5, **_KEYED, **_LENGTH
    )


class SINEW_PG_bounds(bpy.types.PropertyGroup):
    """The bounds of one character, what was learned within them, and what is to be baked from that."""

    use_com: BoolVectorProperty(
        name="Bound",
        description="Hold the centre of mass within its bound along this axis of the scene",
        size=3,
        default=(True, True, True),
        subtype="XYZ",
        **_KEYED,
    )
    com: FloatVectorProperty(
        name="Centre of Mass (m)",
        description="How far the centre of mass may be from the motion's along this axis of the scene, in metres",
        size=3,
        default=_DEFAULT.com,
        subtype="XYZ",
        **_KEYED,
        **_LENGTH,
    )
    use_root: BoolProperty(
        name="Bound", description="Hold the root's orientation within its bound", default=True, **_KEYED
    )
    root: FloatProperty(
        name="Root",
        description="How far the root may be turned from how the motion turns it",
        default=_DEFAULT.root,
        **_KEYED,
        **_ANGLE,
    )
    use_joints: BoolProperty(
        name="Bound",
        description="Hold every joint within this bound; the list says otherwise for single parts",
        default=True,
        **_KEYED,
    )
    joints: FloatProperty(
        name="Joints",
        description="How far every joint may be turned from how the motion turns it",
        default=_DEFAULT.joints,
        **_KEYED,
        **_ANGLE,
    )
    use_effectors: BoolProperty(
        name="Bound",
        description="Hold hands, feet and head within this bound; the list says otherwise for single parts",
        default=True,
        **_KEYED,
    )
    effectors: FloatProperty(
        name="End Effectors (m)",
        description="How far the ends of limbs may be from where the motion has them as seen from the root, in metres",
        default=_DEFAULT.effectors,
        **_KEYED,
        **_LENGTH,
    )
    factor: FloatProperty(
        name="Room",
        description="Times all bounds: above 1 they are wider, below tighter. Loosen and Tighten Here key it",
        default=1.0,
        min=0.0,
        soft_max=4.0,
        max=100.0,
        precision=2,
        step=5,
        **_KEYED,
    )
    paint_amount: FloatProperty(
        name="By",
        description="How many times wider, or tighter, the bounds become here",
        default=1.5,
        min=1.01,
        soft_max=4.0,
        max=100.0,
        precision=2,
        step=10,
        **_FIXED,
    )
    paint_frames: IntProperty(
        name="Frames",
        description="Over how many frames before the current one, and after it, that eases in and out",
        default=10,
        min=1,
        soft_max=120,
        max=100000,
        **_FIXED,
    )
    seed: IntProperty(
        name="Seed", description="The same seed learns the same; another one gives another try", min=0, **_FIXED
    )
    begin: Text(
        name="Begin With",
        description="A controller of the same motion to begin with, such as for a style; empty to begin from nothing",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=_EDITABLE,
    )
    manner: PointerProperty(
        type=bpy.types.Action,
        poll=_can_move,
        name="As",
        description="The Action in whose manner it is to be done",
        override=_EDITABLE,
    )
    file: Text(
        name="Controller",
        description="The file with what was learned; // at its beginning is the folder of the .blend",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override=_EDITABLE,
    )
    stage: EnumProperty(items=STAGES, name="Bake", description="What else is there when it is baked", **_FIXED)
    seconds: FloatProperty(
        name="Length",
        description="How long the baked motion lasts, in seconds; what is no cycle lasts as long as it was learned",
        default=10.0,
        min=0.1,
        soft_max=120.0,
        max=3600.0,
        unit="TIME_ABSOLUTE",
        **_FIXED,
    )
    frame_start: IntProperty(
        name="First Frame",
        description="Where the baked motion begins; the character starts where it stands then",
        default=1,
        min=-1048574,
        max=1048574,
        **_FIXED,
    )


_CLASSES = (SINEW_PG_bound_part, SINEW_PG_bounds)
_ON_OBJECTS = ("sinew_bounds", "sinew_bound_parts", "sinew_bound_part_index")


def register() -> None:
    """Give every object its bounds."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    kind = bpy.types.Object
    kind.sinew_bounds = PointerProperty(
        type=SINEW_PG_bounds,
        name="Bounds",
        description="How far the character may be from its motion, and what was learned within that",
        override=_EDITABLE,
    )
    kind.sinew_bound_parts = CollectionProperty(
        type=SINEW_PG_bound_part,
        name="Parts",
        description="Parts of the body that have bounds of their own",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    kind.sinew_bound_part_index = IntProperty(
        name="Active Part", description="The part that is chosen in the list", min=0, **_FIXED
    )


def unregister() -> None:
    """Take them away; what files hold of them stays in them."""
    for name in reversed(_ON_OBJECTS):
        delattr(bpy.types.Object, name)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
