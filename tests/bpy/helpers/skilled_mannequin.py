# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of skills share: a mannequin with several stock clips as its Actions."""

import bpy
import numpy as np

from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig.rig_reader import RigMotion
from sinew.bridge.rig.rig_writer import write_take
from sinew.core.motion import Take
from sinew.core.motion.io import stock


def mannequin(*clips):
    """The mannequin in a scene of its own, chosen in the panel, with these stock clips as Actions; the first shows."""
    open_input(clips[0])
    obj = next(found for found in bpy.context.scene.objects if found.type == "ARMATURE")
    first = obj.animation_data.action
    scene = bpy.context.scene
    for name in clips[1:]:
        clip = stock.load_stock(name)
        still = np.broadcast_to(np.eye(3, dtype=np.float32), (1, len(clip.skeleton), 3, 3))
        rig = RigMotion(clip, still, 1, scene.render.fps / scene.render.fps_base, 1.0)
        write_take(obj, Take(clip), rig, name=name, where="ACTION")
    obj.animation_data.action = first
    obj.animation_data.action_slot = first.slots[0]
    scene.sinew.armature = obj
    return obj


def skills(obj):
    """Names of the skills in their order."""
    return [row.name for row in obj.sinew_skills]


def ways(obj):
    """(from, to) of the transitions in their order."""
    return [(row.source, row.target) for row in obj.sinew_transitions]
