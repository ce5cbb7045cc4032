# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply
from sinew.core.motion import Clip
from sinew.core.motion.io import stock
from sinew.core.motion.repair import repair_clip


def changed(clip, pos=None, quat=None):
    pos = clip.local_pos if pos is None else pos
    return Clip(clip.skeleton, clip.fps, pos, clip.local_quat_wxyz if quat is None else quat, clip.name)


@pytest.mark.parametrize("name", stock.stock_names())
def test_sound_clips_are_left_alone(name):
    clip = stock.load_stock(name)
    again, report = repair_clip(clip)
    assert again is clip and not report.touched


@pytest.mark.parametrize("name", ["walk", "run", "spinkick", "cartwheel"])
def test_spikes_are_found_and_filled(name):
    clip = stock.load_stock(name).resample(60)
    rng = np.random.default_rng(1)
    quat = np.array(clip.local_quat_wxyz)
    planted = set()
    for frame in rng.choice(np.arange(5, len(clip) - 5), 4, replace=False):
        bone = int(rng.integers(1, len(clip.skeleton)))
        axis = rng.normal(size=3)
        quat[frame, bone] = multiply(quat[frame, bone], from_rotation_vector(1.2 * axis / np.linalg.norm(axis)))
        planted.add((clip.skeleton.names[bone], int(frame)))
    again, report = repair_clip(changed(clip, quat=quat))
    assert planted <= set(report.spikes)
    assert angle_between(again.local_quat_wxyz, clip.local_quat_wxyz).max() < 0.25
    assert "spikes" in report.message


def test_a_body_that_snaps_to_the_origin_is_brought_back():
    clip = stock.load_stock("walk").resample(60)
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    pos[20:26] = 0.0
    quat[20:26] = [1.0, 0, 0, 0]
    again, report = repair_clip(changed(clip, pos, quat))
    assert report.lost_frames == (20, 21, 22, 23, 24, 25)
    assert np.linalg.norm(again.world()[0] - clip.world()[0], axis=-1).max() < 0.1


def test_a_first_frame_in_another_pose_is_replaced_by_the_next():
    clip = stock.load_stock("walk").resample(120)
    quat = np.array(clip.local_quat_wxyz)
    quat[0, 1:] = multiply(quat[0, 1:], from_rotation_vector(np.array([0.9, 0.0, 0.0])))
    again, report = repair_clip(changed(clip, quat=quat))
    assert report.lost_frames == (0,)
    assert np.allclose(again.local_quat_wxyz[0], clip.local_quat_wxyz[1])


@pytest.mark.parametrize(("first", "stop"), [(30, 40), (0, 8), (-9, None)])
def test_a_foot_that_is_turned_over_for_a_moment_is_turned_back(first, stop):
    clip = stock.load_stock("run").resample(60)
    foot = clip.skeleton.index("foot.L")
    quat = np.array(clip.local_quat_wxyz)
    over = multiply(quat[:, foot], from_rotation_vector(np.array([0.0, 2.9, 0.3])))
    quat[first:stop, foot] = over[first:stop]
    again, report = repair_clip(changed(clip, quat=quat))
    assert {bone for bone, _ in report.spikes} == {"foot.L"}
    assert angle_between(again.local_quat_wxyz[:, foot], clip.local_quat_wxyz[:, foot]).max() < 0.8


def test_what_stays_turned_over_for_long_is_left():
    clip = stock.load_stock("walk").resample(60)
    quat, foot = np.array(clip.local_quat_wxyz), clip.skeleton.index("foot.L")
    quat[40:90, foot] = multiply(quat[40:90, foot], from_rotation_vector(np.array([0.0, 2.9, 0.3])))
    assert repair_clip(changed(clip, quat=quat))[1].spikes == ()


def leg_turned(clip, frames, angle, name="thigh.L"):
    """The clip with a bone of the leg turned by a constant angle in these frames."""
    quat, bone = np.array(clip.local_quat_wxyz), clip.skeleton.index(name)
    quat[frames, bone] = multiply(quat[frames, bone], from_rotation_vector(np.array([angle, 0.0, 0.0])))
    return changed(clip, quat=quat), bone


def fastest(clip, bone):
    return angle_between(clip.local_quat_wxyz[1:, bone], clip.local_quat_wxyz[:-1, bone]).max() * clip.fps


def test_a_leg_that_jumps_for_good_is_blended_over():
    clip = stock.load_stock("walk").resample(120)
    broken, bone = leg_turned(clip, slice(60, None), 0.7)
    again, report = repair_clip(broken)
    assert report.jumps == (("thigh.L", 60),) and not report.spikes
    assert "1 jumps in thigh.L" in report.message
    assert fastest(broken, bone) > 70.0 and fastest(again, bone) < 12.0
    far = slice(60 - 18, 60 + 18)
    kept = np.ones(len(clip), dtype=bool)
    kept[far] = False
    assert np.allclose(again.local_quat_wxyz[kept], broken.local_quat_wxyz[kept])


def test_a_leg_that_is_held_until_it_jumps_goes_on_steadily():
    clip = stock.load_stock("run").resample(120)
    quat, bone = np.array(clip.local_quat_wxyz), clip.skeleton.index("thigh.L")
    turns = angle_between(quat[5:-20, bone], quat[25:, bone])
    first = 5 + int(np.argmax(turns))
    quat[first + 1 : first + 20, bone] = quat[first, bone]
    again, report = repair_clip(changed(clip, quat=quat))
    assert report.jumps == (("thigh.L", first + 20),)
    off = angle_between(again.local_quat_wxyz[:, bone], clip.local_quat_wxyz[:, bone])
    assert off.max() < 0.35 * turns.max() and fastest(again, bone) < 12.0


def test_a_leg_that_is_elsewhere_for_a_moment_is_brought_back():
    clip = stock.load_stock("walk").resample(120)
    broken, bone = leg_turned(clip, slice(60, 80), 0.8, "shin.L")
    again, report = repair_clip(broken)
    assert report.jumps == (("shin.L", 60), ("shin.L", 80))
    assert angle_between(again.local_quat_wxyz[:, bone], clip.local_quat_wxyz[:, bone]).max() < 0.3
