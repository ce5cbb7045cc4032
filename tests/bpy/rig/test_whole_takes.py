# SPDX-License-Identifier: GPL-3.0-or-later
"""A take covers all frames of its source, and what is learned of one covers all that is motion."""

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import show_clip
from sinew.bridge.jobs import requests
from sinew.bridge.rig import actions
from sinew.bridge.rig.armatures import armature_from_skeleton
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core import jobs
from sinew.core.motion import Clip
from sinew.core.motion.plain_walk import plain_walk


def walker(clip, first=0):
    """An armature whose Action is the clip, from a frame on."""
    obj = armature_from_skeleton(clip.skeleton, "Hero", bpy.context.scene.collection)
    action = show_clip(clip, obj)
    for curve in actions.curves_of(action, action.slots[0]):
        for key in curve.keyframe_points:
            key.co.x += first - 1
        curve.update()
    return obj


def posed_first(clip):
    """The clip with its rest pose, elsewhere, before it."""
    pos = np.concatenate([clip.skeleton.rest_pos[None] + [0.0, 0.0, 0.2], clip.local_pos])
    quat = np.concatenate([clip.skeleton.rest_quat_wxyz[None], clip.local_quat_wxyz])
    pos[0, 0, :2] += 4.0
    return Clip(clip.skeleton, clip.fps, pos, quat, clip.name)


def test_frames_0_to_25_become_frames_0_to_25(addon):
    obj = walker(plain_walk(fps=24.0).frames(0, 26))
    request = requests.Request(obj.name, method="sampling", settings={"quality": "draft"}, engine="mujoco")
    job = requests.create_job(request, requests.read(request))
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    written = requests.collect(job)
    assert tuple(written.action.frame_range) == (0.0, 25.0)


@pytest.mark.parametrize(("end", "frames"), [(25.0, 26), (25.0004, 26), (25.4, 27)])
def test_an_end_between_frames_is_read_too(scene, end, frames):
    obj = walker(plain_walk(fps=24.0).frames(0, 26))
    action = obj.animation_data.action
    for curve in actions.curves_of(action, action.slots[0]):
        curve.keyframe_points[-1].co.x = end
        curve.update()
    rig = read_rig(obj)
    assert (rig.frame_start, len(rig.clip)) == (0, frames)


@pytest.mark.parametrize(("fps", "true_fps"), [(24, 120.0), (25, 60.0), (30, 24.0)])
def test_a_take_at_another_rate_covers_its_source(addon, fps, true_fps):
    obj = walker(plain_walk(fps=float(fps)).frames(0, 26))
    request = requests.Request(obj.name, true_fps=true_fps)
    job = requests.create_job(request, requests.read(request))
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    first, last = requests.collect(job).action.frame_range
    assert first == 0.0 and 0.0 <= last - 25.0 * fps / true_fps < 1.0


def test_what_is_learned_begins_where_the_motion_does(scene):
    obj = walker(posed_first(plain_walk(fps=24.0)), first=10)
    whole = requests.read(requests.Request(obj.name, method="sampling"))
    motion = requests.read(requests.Request(obj.name, method="graph_learn"))
    assert (whole.frame_start, motion.frame_start) == (10, 11)
    assert len(motion.clip) == len(motion.bone_stretch) == len(whole.clip) - 1
    np.testing.assert_array_equal(motion.clip.local_pos, whole.clip.local_pos[1:])
