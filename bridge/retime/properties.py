# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator asks of a key moment, kept in the scene: ``scene.sinew.retime``."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

_FRAMES = {"min": -1048574, "max": 1048574, "options": set()}

# The numbers stand in files.
GOALS = (
    ("NONE", "As It Goes", "Leave it to the Action where it is at the key moment", "CON_FOLLOWPATH", 0),
    ("PLACE", "Be There", "Be at the target's place on the ground at the key moment", "PIVOT_CURSOR", 1),
    ("REACH", "Reach It", "Have a hand or foot at the target at the key moment", "CON_KINEMATIC", 2),
)
FACINGS = (
    ("KEEP", "As It Goes", "Leave it to the Action which way it faces at the key moment", "FORWARD", 0),
    (
        "TOWARDS",
        "Towards the Target",
        "Face the target, as seen from where the Action begins; who reaches for it does so in that direction",
        "CON_TRACKTO",
        1,
    ),
    (
        "TARGET",
        "As the Target",
        "Face along the target's own -Y axis, as a character does in Front View",
        "AXIS_FRONT",
        2,
    ),
    ("ANGLE", "Angle", "Face a given heading", "DRIVER_ROTATIONAL_DIFFERENCE", 3),
)


def _is_in_scene(self: Any, obj: bpy.types.Object) -> bool:
    return self.id_data.objects.get(obj.name) == obj and obj != self.id_data.sinew.armature


class SINEW_PG_retime(bpy.types.PropertyGroup):
    """A key moment of the chosen Action, and when, where and how it is wanted."""

    use_current: BoolProperty(
        name="Current Frame",
        description="Take the scene's current frame for the key moment",
        default=True,
        options=set(),
    )
    frame: IntProperty(
        name="Key Frame",
        description="Frame of the Action with the key moment, such as a kick's hit",
        default=1,
        **_FRAMES,
    )
    use_at: BoolProperty(name="Retime", description="Let the key moment happen at another frame", options=set())
    at: IntProperty(name="At Frame", description="Frame at which the key moment is to happen", default=1, **_FRAMES)
    goal: EnumProperty(items=GOALS, name="Where", description="Where the character is at the key moment", options=set())
    target: PointerProperty(
        type=bpy.types.Object,
        poll=_is_in_scene,
        name="Target",
        description="Where to be, or what to reach; where it is at the wanted frame counts, if it is animated",
    )
    bone: StringProperty(
        name="Reach with", description="The hand or foot that is at the target at the key moment", options=set()
    )
    facing: EnumProperty(
        items=FACINGS, name="Facing", description="Which way the hips face at the key moment", options=set()
    )
    heading: FloatProperty(
        name="Heading",
        description="Which way the hips face, as an angle about Z from the world's X axis",
        subtype="ANGLE",
        options=set(),
    )
