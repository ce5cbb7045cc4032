# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of operators, panels and monitor share. Blender runs no timers in the background, so they tick."""

import time

import bpy
import pytest

from sinew.bridge.jobs import monitor
from sinew.bridge.rig import actions

from .rigs import arm, digest, wave


def hero(frames=20):
    """An armature 'Hero' that the Action 'Wave' moves, chosen in the panel with the method that changes nothing."""
    obj = arm("Hero")
    wave(obj, frames=frames)
    bpy.context.scene.sinew.method = "passthrough"
    bpy.ops.sinew.pick_selected()
    return obj


def slowly(pause_s=0.2, chunk_frames=2):
    """Let the next job last a while: ten steps of ``pause_s``."""
    settings = bpy.context.scene.sinew.methods.passthrough
    settings.pause_s, settings.chunk_frames = pause_s, chunk_frames


def simulate():
    """Press the button, with the undo step that a click makes; gives the job's id."""
    assert bpy.ops.sinew.simulate("EXEC_DEFAULT", True) == {"FINISHED"}
    return monitor.watched_jobs()[0].id


def tick_until(reached, seconds=60.0):
    """Tick as Blender's timer would until ``reached(view of the newest job)``; gives that view."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        monitor.tick_monitor()
        views = monitor.watched_jobs()
        if views and reached(views[0]):
            return views[0]
        time.sleep(0.05)
    raise AssertionError(f"It never came to that: {monitor.watched_jobs()}")


def tick_to_end(seconds=60.0):
    """Tick until the monitor has nothing to wait for; gives the newest job's view."""
    stop = time.monotonic() + seconds
    while monitor.tick_monitor() is not None:
        assert time.monotonic() < stop, f"The monitor still waits: {monitor.watched_jobs()}"
        time.sleep(0.05)
    return monitor.watched_jobs()[0] if monitor.watched_jobs() else None


def animation():
    """Everything that a bake touches: Actions, keys, and what moves each object, in plain values."""
    return {
        "actions": {action.name: (digest(action), action.use_fake_user) for action in bpy.data.actions},
        "objects": {obj.name: _moved_by(obj) for obj in bpy.data.objects},
        "armatures": sorted(armature.name for armature in bpy.data.armatures),
    }


def _moved_by(obj):
    data = obj.animation_data
    if data is None:
        return None
    tracks = [
        (track.name, track.mute, [(s.name, s.action.name, s.frame_start, _slot(s.action_slot)) for s in track.strips])
        for track in data.nla_tracks
    ]
    return data.action.name if data.action else None, _slot(data.action_slot), tracks


def _slot(slot):
    return slot.identifier if slot is not None else None


def new_actions(before):
    """Names of the Actions that were not there ``before``."""
    return sorted({action.name for action in bpy.data.actions} - set(before["actions"]))


def baked(name):
    """A baked Action's content."""
    return digest(bpy.data.actions[name])


def keys(action, obj):
    """How many keys the Action has for ``obj``."""
    return sum(len(curve.keyframe_points) for curve in actions.curves_of(action, actions.slot_for(action, obj)))


def refusal(*words):
    """Expect an operator's error with all the words and no traceback."""
    return pytest.raises(RuntimeError, match="(?s)^(?!.*Traceback)" + "".join(f"(?=.*{word})" for word in words))
