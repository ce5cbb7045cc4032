# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips played slower or faster in places: every frame is where the time map says, and speeds do not jump."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.errors import BadMotion
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector
from sinew.core.motion import Clip, Skeleton, Tag, Take
from sinew.core.motion.io.npz import load_take, save_take
from sinew.core.motion.time_warp import TimeStretch, compute_time_warp, warp_clip

ONE_BONE = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), np.ones(1))


def turning(fps=50.0, seconds=2.0):
    """A bone that goes along X at 1 m/s, speeds up along Y at 2 m/s², and turns about Z at 3 rad/s."""
    time = np.arange(round(seconds * fps) + 1) / fps
    pos = np.stack([time, time**2, 0.0 * time], axis=-1)[:, None]
    quat = from_rotation_vector(3.0 * time[:, None] * np.array([0.0, 0.0, 1.0]))[:, None]
    return Clip(ONE_BONE, fps, pos, quat, "turning", (Tag("late", round(1.5 * fps), round(2.0 * fps)),))


def test_its_own_times_give_the_clip_back():
    clip = turning()
    again = warp_clip(clip, np.arange(len(clip)) / clip.fps)
    assert np.array_equal(again.local_pos, clip.local_pos) and again.tags == clip.tags
    np.testing.assert_allclose(again.local_quat_wxyz, clip.local_quat_wxyz, atol=1e-15)


@pytest.mark.parametrize("fps", [16.0, 50.0])
def test_between_frames_a_steady_acceleration_and_turn_are_exact(fps):
    clip = turning(fps)
    times = np.linspace(0.1, 1.9, 37)
    shown = warp_clip(clip, times)
    np.testing.assert_allclose(shown.local_pos[:, 0], np.stack([times, times**2, 0.0 * times], axis=-1), atol=1e-12)
    wanted = from_rotation_vector(3.0 * times[:, None] * np.array([0.0, 0.0, 1.0]))
    assert angle_between(shown.local_quat_wxyz[:, 0], wanted).max() < 2e-4


@pytest.mark.parametrize("factor", [0.7, 1.5])
def test_a_stretch_lasts_as_long_as_told_and_the_rest_is_shifted(factor):
    clip = turning()
    times = compute_time_warp(clip, [TimeStretch(0.8, 1.2, factor)], 0.1)
    pace = np.diff(times) * clip.fps
    assert pace[:30] == pytest.approx(1.0) and pace[-20:] == pytest.approx(1.0)
    inside = (times[:-1] > 0.8) & (times[1:] < 1.2)
    assert pace[inside] == pytest.approx(1.0 / factor)
    assert np.all(pace > 0.0)
    # Half of each ramp, about, lasts longer as well.
    longer = len(times) / clip.fps - len(clip) / clip.fps
    assert longer == pytest.approx((factor - 1.0) * 0.5, abs=0.03)


def test_stretches_that_are_near_each_other_share_what_is_between():
    clip = turning(100.0)
    pace = np.diff(compute_time_warp(clip, [TimeStretch(0.5, 0.8, 1.4), TimeStretch(0.86, 1.2, 0.8)], 0.15)) * clip.fps
    assert np.abs(np.diff(pace)).max() < 0.2
    assert np.sum(np.isclose(pace, 1.0 / 1.4)) >= 40 and np.sum(np.isclose(pace, 1.0 / 0.8)) >= 25
    # Straight from one to the other, without going through more than either.
    assert pace.min() == pytest.approx(1.0 / 1.4) and pace.max() == pytest.approx(1.0 / 0.8)


def test_a_tag_stays_with_its_poses():
    clip = turning()
    times = compute_time_warp(clip, [TimeStretch(0.4, 0.8, 1.5)], 0.1)
    tag = warp_clip(clip, times).tags[0]
    assert times[tag.start] == pytest.approx(1.5, abs=0.02) and times[tag.start] >= 1.5 - 1e-6
    assert times[tag.start - 1] < 1.5


def test_one_frame_is_no_trouble():
    clip = turning().frames(3, 4)
    assert len(compute_time_warp(clip, [], 0.1)) == 1
    assert np.array_equal(warp_clip(clip, np.zeros(1)).local_pos, clip.local_pos)


def test_a_take_knows_its_source_s_time_and_keeps_it_in_its_file(tmp_path):
    clip = turning()
    times = compute_time_warp(clip, [TimeStretch(0.8, 1.2, 1.5)], 0.1)
    save_take(tmp_path / "take.npz", Take(warp_clip(clip, times), source_times_s=times))
    take = load_take(tmp_path / "take.npz")
    assert np.array_equal(take.source_times_s, times)
    assert np.array_equal(take.in_take_time(clip).local_pos, take.motion.local_pos)
    at = np.array([-0.5, 0.0, 0.3, 1.0, 1.4, 3.0])
    np.testing.assert_allclose(take.take_time(take.source_time(at)), at, atol=1e-9)
    assert take.source_time(at)[0] == -0.5 and take.source_time(at)[3] < 1.0
    save_take(tmp_path / "plain.npz", Take(clip))
    plain = load_take(tmp_path / "plain.npz")
    assert plain.source_times_s is None and plain.in_take_time(clip) is clip
    assert np.array_equal(plain.source_time(at), at) and np.array_equal(plain.take_time(at), at)


def test_times_that_do_not_fit_the_take_are_refused():
    take = Take(turning())
    for times in (np.arange(5.0), np.zeros(len(take.motion)), np.full(len(take.motion), np.nan)):
        with pytest.raises(BadMotion, match="do not go up"):
            replace(take, source_times_s=times)
