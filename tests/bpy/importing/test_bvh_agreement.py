# SPDX-License-Identifier: GPL-3.0-or-later
"""A BVH is the same clip by Blender's importer and by our own reader, so that a library fits the armature."""

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion.io.bvh import load_bvh

FILES = ["cmu/16_08_run_sudden_stop.bvh", "bvh/olaf_walk01_24fps.bvh", "odd/derived_09_01_zup_mm.bvh"]


@pytest.mark.parametrize("file", FILES)
def test_both_ways_lead_to_the_same_clip(scene, shared_mocap, file):
    path = shared_mocap / file
    clip = load_bvh(path, 0.01)
    open_input(str(path), 0.01)
    other = read_rig(next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")).clip
    assert clip.skeleton.names == other.skeleton.names
    assert (len(clip), clip.fps) == (len(other), pytest.approx(other.fps))
    np.testing.assert_allclose(clip.skeleton.rest_pos, other.skeleton.rest_pos, atol=1e-5)
    np.testing.assert_allclose(clip.skeleton.lengths, other.skeleton.lengths, atol=1e-5)
    assert angle_between(clip.skeleton.rest_quat_wxyz, other.skeleton.rest_quat_wxyz).max() < 1e-4
    (pos, quat), (other_pos, other_quat) = clip.world(), other.world()
    np.testing.assert_allclose(pos, other_pos, atol=1e-4)
    assert angle_between(quat, other_quat).max() < 1e-3
