# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes an object part of the stage (``object.sinew``), and what the stage has by itself (``scene.sinew.stage``).

Masses, forces and speeds have no Blender unit: those would follow the scene's unit scale, and physics does not.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ...core.sim.stage_parts import INTENTS

_EDITABLE = {"LIBRARY_OVERRIDABLE"}  # what is on the stage may be linked from a file of its own
# The numbers stand in files.
ROLES = (
    ("NONE", "Nothing", "Not on the stage", "NONE", 0),
    ("TERRAIN", "Terrain", "Ground to walk on instead of the flat one: its upper surface", "RNDCURVE", 1),
    ("OBSTACLE", "Obstacle", "Stands where it is and lets nobody through", "MOD_BUILD", 2),
    ("PROP", "Prop", "Can be pushed, kicked and knocked over", "PACKAGE", 3),
    ("PROJECTILE", "Projectile", "Appears at its frame and flies at the character", "SPHERE", 4),
    ("PUSH", "Push", "Pushes a bone along its Z axis, which is where an empty's arrow points", "EMPTY_SINGLE_ARROW", 5),
    ("CHARACTER", "Character", "An armature that is simulated together with the chosen one", "ARMATURE_DATA", 6),
)
SHAPES = (
    ("AUTO", "Automatic", "A sphere or a box where the mesh is one, convex pieces of the mesh otherwise", 0),
    ("CONVEX", "Convex Pieces", "As many convex pieces as the mesh needs", 1),
    ("SPHERE", "Sphere", "A sphere as large as the mesh is long", 2),
    ("BOX", "Box", "The mesh's bounding box", 3),
    ("CAPSULE", "Capsule", "A capsule along the mesh's longest side", 4),
)
# In the order of INTENTS, after none; the numbers stand in files.
REACTIONS = (
    ("FORCE", "By Force", "As strong as it is set to be", 0),
    *((name.upper(), label, text, number) for number, (name, label, text) in enumerate(INTENTS, start=1)),
)
AIMS = (
    (
        "TARGET",
        "At the Character",
        "So that it meets the target bone, or the character's trunk where none is chosen",
        0,
    ),
    ("AXIS", "Along Its Z Axis", "Straight to where its own Z axis points, whoever is there", 1),
)
ICONS = {role: icon for role, _, _, icon, _ in ROLES}
LABELS = {role: label for role, label, *_ in ROLES}


def _is_armature_here(self: Any, obj: bpy.types.Object) -> bool:
    return obj.type == "ARMATURE" and bpy.context.scene.objects.get(obj.name) == obj


def _show_aim(self: Any, context: bpy.types.Context) -> None:
    """The axes are drawn where they matter."""
    self.id_data.show_axis = self.role == "PROJECTILE" and self.aim == "AXIS"


class SINEW_PG_object(bpy.types.PropertyGroup):
    """What the object is on the stage."""

    role: EnumProperty(
        items=ROLES, name="Role", description="What the object is on the stage", options=set(), override=_EDITABLE
    )
    former_role: EnumProperty(
        items=ROLES,
        name="Former Role",
        description="What the object was before it was taken off the stage",
        options={"HIDDEN"},
        override=_EDITABLE,
    )
    aim: EnumProperty(
        items=AIMS,
        name="Flies",
        description="Where a projectile flies to",
        options=set(),
        override=_EDITABLE,
        update=_show_aim,
    )
    friction: FloatProperty(
        name="Friction",
        description="0 is ice, 1 is rubber; multiplied with that of what it touches",
        default=1.0,
        min=0.0,
        soft_max=1.5,
        max=10.0,
        options=set(),
        override=_EDITABLE,
    )
    mass: FloatProperty(
        name="Mass (kg)",
        description="How heavy it is, in kilograms",
        default=1.0,
        min=0.0,
        max=1e6,
        options=set(),
        override=_EDITABLE,
    )
    shape: EnumProperty(
        items=SHAPES, name="Shape", description="What it is made of for physics", options=set(), override=_EDITABLE
    )
    armature: PointerProperty(
        type=bpy.types.Object,
        poll=_is_armature_here,
        name="Armature",
        description="Whose bone it is about; empty for the character that is simulated",
        override=_EDITABLE,
    )
    bone: StringProperty(
        name="Bone",
        description="The bone that is pushed, or thrown at: empty for the trunk",
        options=set(),
        override=_EDITABLE,
    )
    start_frame: IntProperty(
        name="Start Frame",
        description="When it begins",
        default=1,
        min=-1048574,
        max=1048574,
        options=set(),
        override=_EDITABLE,
    )
    speed: FloatProperty(
        name="Speed (m/s)",
        description="How fast it flies when it appears, in metres a second",
        default=10.0,
        min=0.0,
        soft_max=50.0,
        max=1000.0,
        options=set(),
        override=_EDITABLE,
    )
    intent: EnumProperty(
        items=REACTIONS,
        name="Intent",
        description="What it is to do to the character: force or mass and seed are found by trying. "
        "A keyed force says how the push swells and fades",
        options=set(),
        override=_EDITABLE,
    )
    # The only one that is animated: a push may swell and fade.
    force: FloatProperty(
        name="Force (N)",
        description="How hard it pushes, in newtons",
        default=200.0,
        min=0.0,
        soft_max=1000.0,
        max=1e6,
        override=_EDITABLE,
    )
    duration: FloatProperty(
        name="Duration",
        description="How long it pushes, in seconds",
        default=0.2,
        min=0.0,
        soft_max=2.0,
        max=1e4,
        unit="TIME_ABSOLUTE",
        options=set(),
        override=_EDITABLE,
    )


def intent_of(obj: bpy.types.Object) -> str:
    """The reaction that an object's strength is to be found for, as ``PushPart`` has it; '' for none."""
    return "" if obj.sinew.intent == "FORCE" else str(obj.sinew.intent).lower()


class SINEW_PG_stage(bpy.types.PropertyGroup):
    """What the stage has without any object."""

    ground: BoolProperty(
        name="Ground",
        description="A flat floor at height 0, where no object is marked as terrain; without it everything falls",
        default=True,
        options=set(),
    )
    friction: FloatProperty(
        name="Ground Friction",
        description="0 is ice, 1 is rubber; multiplied with that of what touches it",
        default=1.0,
        min=0.0,
        soft_max=1.5,
        max=10.0,
        options=set(),
    )
    self_collision: BoolProperty(
        name="Self Collision",
        description="Let a character's limbs touch its own body; slower, and poses that overlap are pushed apart",
        options=set(),
    )


_CLASSES = (SINEW_PG_object, SINEW_PG_stage)


def register() -> None:
    """Give every object its ``sinew``."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.sinew = PointerProperty(
        type=SINEW_PG_object, name="Sinew", description="What the object is on the stage", override=_EDITABLE
    )


def unregister() -> None:
    """Take it away; what files hold of it stays in them."""
    del bpy.types.Object.sinew
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
