# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the overlay show: a bone in Pose Mode, and a take with contacts."""

import bpy
import numpy as np

from sinew.bridge.body import fitted_bodies
from sinew.bridge.overlay import frame_state, ghosts
from sinew.bridge.rig import actions, sources
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.takes import take_data
from sinew.core.motion import Take


def pose(obj, bone):
    """Select a bone in Pose Mode."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="POSE")
    obj.data.bones.active = obj.data.bones[bone]


def a_take(obj):
    """A take of the armature's Action: it stands still, its left foot touches in the first half."""
    source, source_slot, bag = actions.new_action("Source", obj)
    root = obj.pose.bones[0]
    actions.add_curve(bag, root.path_from_id("location"), 0, root.name, 1, np.linspace(0.0, 1.0, 21))
    actions.assign(obj, source, source_slot)
    rig = read_rig(obj)
    contacts = np.zeros((len(rig.clip), len(rig.clip.skeleton)), dtype=bool)
    contacts[:10, rig.clip.skeleton.index("foot.L")] = True
    take = Take(rig.clip, contacts=contacts)
    action, slot, _ = actions.new_action("Take", obj)
    before = sources.prior_animation(obj)
    sources.store_prior(action, before)
    take_data.store_take_data(action, take, rig)
    actions.assign(obj, action, slot)
    fitted_bodies.fit_now(bpy.context.scene, obj)
    return action, rig


def frame_state_now():
    """The characters and pushes as they stand now."""
    context = bpy.context
    context.view_layer.update()
    reading = frame_state.read_scene(context.scene, context.view_layer, context.evaluated_depsgraph_get())
    return frame_state.compute_frame_state(reading)


def read_ghosts():
    """Let the ghosts' timer read every source that is wanted."""
    while ghosts._work() is not None:
        pass
