# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a clip is no motion is found, named and left out or bridged; a sound clip is left alone."""

import numpy as np
import pytest

from sinew.core.geometry.quaternions import angle_between
from sinew.core.motion import PropMotion, Take
from sinew.core.motion.cut_bridging import bridge_cuts
from sinew.core.motion.inspection import inspect_clip
from sinew.core.motion.plain_walk import plain_walk
from sinew.core.motion.repair import repair_clip
from sinew.core.motion.trim import MotionTrim, find_trim

from ...stock_clips import NAMES, stock_clip
from .odd_clips import frozen, of_frames, teleported, with_pose

RATES = (24.0, 30.0, 60.0, 120.0)


def kinds(clip):
    return [finding.kind for finding in find_trim(clip).findings]


@pytest.mark.parametrize("fps", [15.0, *RATES])
def test_a_sound_walk_is_all_motion(fps):
    clip = plain_walk(fps=fps)
    trim = find_trim(clip)
    assert (trim.start, trim.stop, trim.cuts, trim.findings) == (0, len(clip), (), ())
    assert trim.cut_clip(clip) is clip and bridge_cuts(clip, trim.cuts) is clip


@pytest.mark.parametrize("name", NAMES)
def test_stock_clips_are_all_motion(name):
    clip = stock_clip(name)
    assert not find_trim(clip).leaves_out and not kinds(clip)


@pytest.mark.parametrize("fps", RATES)
def test_a_t_pose_in_the_first_frame_is_left_out(fps):
    clip = with_pose(plain_walk(fps=fps), 1)
    trim = find_trim(clip)
    assert (trim.start, trim.stop) == (1, len(clip))
    (finding,) = trim.findings
    assert finding.kind == "calibration" and finding.frames == (0, 1) and finding.fix == "trim"
    assert finding.message.startswith("The first frame is a T-pose, no part of the motion, ")


def test_a_t_pose_at_the_same_place_is_left_out_too():
    walk = plain_walk(fps=60.0)
    clip = with_pose(walk, 1, at=walk.local_pos[0, 0, :2])
    assert find_trim(clip).start == 1
    assert find_trim(clip).findings[0].message == "The first frame is a T-pose, no part of the motion"


def test_two_seconds_of_t_pose_are_left_out():
    walk = plain_walk(fps=30.0)
    trim = find_trim(with_pose(walk, 60))
    assert (trim.start, trim.stop) == (60, 60 + len(walk))
    assert trim.findings[0].message.startswith("The first 60 frames are a T-pose")


def test_a_longer_pose_than_motion_is_still_the_pose():
    walk = plain_walk(duration_s=2.0, fps=30.0)
    assert find_trim(with_pose(walk, 150)).start == 150


def test_an_a_pose_at_the_end_is_left_out_and_named():
    walk = plain_walk(fps=60.0)
    trim = find_trim(with_pose(walk, 30, at_end=True, arms_down_deg=45.0))
    assert (trim.start, trim.stop) == (0, len(walk))
    assert trim.findings[0].message.startswith("The last 30 frames are an A-pose")


@pytest.mark.parametrize("fps", RATES)
def test_a_teleport_in_the_middle_is_bridged(fps):
    walk = plain_walk(fps=fps)
    cut = len(walk) // 2
    clip = teleported(walk, cut, turn_deg=70.0)
    trim = find_trim(clip)
    assert not trim.leaves_out and trim.cuts == (cut,) and kinds(clip) == ["cut"]
    bridged = bridge_cuts(clip, trim.cuts)
    # As nothing but the place was changed, all is as it was.
    np.testing.assert_allclose(bridged.world()[0], walk.world()[0], atol=2e-2)
    assert not find_trim(bridged).findings


def test_a_jump_to_another_pose_is_blended():
    walk = plain_walk(fps=60.0)
    clip = of_frames(
        walk,
        np.concatenate([walk.local_pos[:130], walk.local_pos[165:]]),
        np.concatenate([walk.local_quat_wxyz[:130], walk.local_quat_wxyz[165:]]),
    )
    assert find_trim(clip).cuts == (130,)
    bridged = bridge_cuts(clip, (130,))
    fastest = angle_between(bridged.local_quat_wxyz[1:], bridged.local_quat_wxyz[:-1]).max()
    usual = angle_between(walk.local_quat_wxyz[1:], walk.local_quat_wxyz[:-1]).max()
    assert fastest < 2.0 * usual
    far = np.abs(np.arange(len(clip)) - 130) > 20
    np.testing.assert_allclose(bridged.local_quat_wxyz[far][:, 1:], clip.local_quat_wxyz[far][:, 1:], atol=1e-9)
    assert not find_trim(bridged).findings


def test_a_second_half_elsewhere_is_not_thrown_away():
    """Repair, which fills in what is lost, leaves long pieces alone."""
    walk = plain_walk(fps=60.0)
    clip = teleported(walk, 120, by=(30.0, 0.0, 0.0))
    repaired, report = repair_clip(clip)
    assert repaired is clip and not report.touched


def test_a_short_dropout_is_no_cut_but_filled_in():
    walk = plain_walk(fps=60.0)
    pos = np.array(walk.local_pos)
    pos[100:110, 0] += [0.0, 0.0, 4.0]
    clip = of_frames(walk, pos, walk.local_quat_wxyz)
    trim = find_trim(clip)
    assert not trim.cuts and not trim.leaves_out
    assert repair_clip(clip)[1].lost_frames == tuple(range(100, 110))


def test_frozen_frames_at_the_end_are_left_out():
    walk = plain_walk(fps=60.0)
    trim = find_trim(frozen(walk, 48))
    assert (trim.start, trim.stop) == (0, len(walk)) and kinds(frozen(walk, 48)) == ["frozen"]


def test_a_cycle_that_has_come_round_and_rests_is_over():
    walk = plain_walk(fps=60.0)
    time = np.linspace(0.0, 1.0, 61)
    there = np.round(30.0 * (0.5 - 0.5 * np.cos(2.0 * np.pi * time))).astype(int)  # begins and ends slowly
    frames = np.concatenate([there, np.zeros(45, dtype=int)])
    clip = of_frames(walk, walk.local_pos[frames], walk.local_quat_wxyz[frames])
    trim = find_trim(clip)
    assert trim.start == 0 and 55 < trim.stop < 64 and kinds(clip) == ["frozen"]
    short = of_frames(walk, walk.local_pos[frames[:80]], walk.local_quat_wxyz[frames[:80]])
    assert not find_trim(short).leaves_out  # a pause


def test_who_stands_still_is_all_motion():
    walk = plain_walk(fps=60.0)
    still = of_frames(walk, np.repeat(walk.local_pos[:1], 90, 0), np.repeat(walk.local_quat_wxyz[:1], 90, 0))
    assert not find_trim(still).leaves_out and not kinds(still)


def test_size_does_not_matter():
    clip = with_pose(plain_walk(fps=30.0), 1)
    large = of_frames(clip, 30.0 * clip.local_pos, clip.local_quat_wxyz)
    assert find_trim(large).start == 1


def test_a_take_keeps_its_frames():
    walk = plain_walk(fps=30.0)
    clip = with_pose(with_pose(walk, 20), 5, at_end=True)
    trim = find_trim(clip)
    motion = trim.cut_clip(clip)
    ball = PropMotion("Ball", motion.local_pos[:, 0], motion.local_quat_wxyz[:, 0])
    contacts = np.zeros((len(motion), len(motion.skeleton)), dtype=bool)
    contacts[0, 3] = contacts[-1, 4] = True
    times_s = np.arange(len(motion)) / 30.0 * 0.9
    take = trim.pad_take(
        Take(motion, contacts, fell_at_s=1.5, others=(Take(motion),), props=(ball,), source_times_s=times_s), clip.fps
    )
    assert len(take.motion) == len(clip)
    for one in (take, *take.others):
        np.testing.assert_array_equal(one.motion.local_pos[20:-5], walk.local_pos)
        np.testing.assert_array_equal(one.motion.local_pos[:20], np.repeat(walk.local_pos[:1], 20, 0))
        np.testing.assert_array_equal(one.motion.local_pos[-5:], np.repeat(walk.local_pos[-1:], 5, 0))
    assert take.contacts[:21, 3].all() and take.contacts[-6:, 4].all() and not take.contacts[21:, 3].any()
    assert take.fell_at_s == pytest.approx(1.5 + 20 / 30.0)
    assert take.source_times_s[0] == 0.0 and take.source_times_s[20] == pytest.approx(20 / 30.0)
    np.testing.assert_array_equal(take.props[0].pos, take.motion.local_pos[:, 0])


def test_nothing_is_padded_where_nothing_was_left_out():
    take = Take(plain_walk())
    assert MotionTrim.whole(take.motion).pad_take(take, 24.0) is take


def test_hovering_is_said():
    walk = plain_walk()
    up = np.array(walk.local_pos)
    up[:, 0, 2] += 0.6
    (finding,) = inspect_clip(of_frames(walk, up, walk.local_quat_wxyz))
    assert finding.kind == "ground" and "hovers 0.6" in finding.message
    assert not inspect_clip(walk)


def test_only_what_no_body_can_be_is_impossible():
    def findings(scale):
        walk = plain_walk()
        skeleton = type(walk.skeleton)(
            walk.skeleton.names,
            walk.skeleton.parents,
            scale * walk.skeleton.rest_pos,
            walk.skeleton.rest_quat_wxyz,
            scale * walk.skeleton.lengths,
        )
        return inspect_clip(type(walk)(skeleton, walk.fps, scale * walk.local_pos, walk.local_quat_wxyz))

    assert [(one.fix, one.is_impossible) for one in findings(36.0)] == [("scale", True)]
    assert [(one.fix, one.is_impossible) for one in findings(3.0)] == [("scale", False)]
