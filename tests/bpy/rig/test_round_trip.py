# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written and read back is the same pose, on every real file there is."""

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig import actions
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion import Take
from sinew.core.motion.io import stock

from ..helpers.mocap_files import FILES, scale_of

# Enough to meet every bone in many poses; whole long files would only say the same again.
MOST_FRAMES = 300


def assert_same_pose(first, second):
    pos, quat = first.clip.world()
    pos_again, quat_again = second.clip.world()
    assert pos.shape == pos_again.shape
    assert np.abs(pos - pos_again).max() < 1e-4
    assert angle_between(quat, quat_again).max() < 1e-4


def round_trip(obj, action):
    first, last = actions.frame_range(action, actions.slot_for(action, obj))
    frames = (first, min(last, first + MOST_FRAMES))
    before = read_rig(obj, action=action, frames=frames)
    written = write_take(obj, Take(before.clip), before, name="again", source_action=action, where="ACTION")
    assert_same_pose(before, read_rig(obj, action=written.action))
    return written


@pytest.mark.parametrize("name", FILES)
def test_every_file_comes_home_as_it_left(name, shared_mocap, scene):
    open_input(str(shared_mocap / name), scale_of(name))
    obj = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
    found = [
        a
        for a in list(bpy.data.actions)
        if any(c.data_path.startswith("pose.") for c in actions.curves_of(a, actions.slot_for(a, obj)))
    ]
    assert found
    for action in found:
        round_trip(obj, action)


@pytest.mark.parametrize("name", ["walk", "cartwheel", "backflip", "getup_faceup"])
def test_the_mannequin_wears_a_stock_clip_exactly(name, scene):
    open_input(name)
    obj = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
    clip = stock.load_stock(name)
    rig = read_rig(obj)
    assert rig.clip.skeleton.same_bones(clip.skeleton) or set(rig.clip.skeleton.names) == set(clip.skeleton.names)
    order = [rig.clip.skeleton.index(bone) for bone in clip.skeleton.names]
    pos, quat = clip.world()
    pos_seen, quat_seen = rig.clip.world()
    assert np.abs(pos - pos_seen[:, order]).max() < 1e-4
    assert angle_between(quat, quat_seen[:, order]).max() < 1e-4
    round_trip(obj, obj.animation_data.action)


def test_a_file_in_millimetres_with_z_up_stands_upright(shared_mocap, scene):
    open_input(str(shared_mocap / "odd/derived_09_01_zup_mm.bvh"), 0.001)
    obj = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
    pos, _ = read_rig(obj).clip.world()
    height, depth = np.ptp(pos[0, :, 2]), np.ptp(pos[0, :, :2], axis=0).min()
    assert 1.2 < height < 2.0
    assert height > depth
