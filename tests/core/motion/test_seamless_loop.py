# SPDX-License-Identifier: GPL-3.0-or-later
"""A loop cut out of cycles that are not quite the same has no seam, in its pose and in its speed."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.motion.loops import close_cycle, count_missing_steps, count_repeats, is_cyclic, loop_clip
from sinew.core.motion.seamless_loop import Seam, keep_loop, make_loop, measure_seam, narrow_seam

from ...on_the_spot import walk_on_the_spot


def wandering(clip):
    """The clip as a body might do it: it drifts aside, turns a little, and its joints are never quite the same."""
    time = np.arange(len(clip)) / clip.fps
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    pos[:, 0, 0] += 0.03 * time
    quat[:, 0] = multiply(from_rotation_vector(np.outer(0.05 * time, [0.0, 0.0, 1.0])), quat[:, 0])
    bent = 0.1 * np.sin(1.7 * time)[:, None, None] * np.array([1.0, 0.0, 0.0])
    quat[:, 1:] = multiply(quat[:, 1:], from_rotation_vector(np.broadcast_to(bent, (len(clip), quat.shape[1] - 1, 3))))
    return replace(clip, local_pos=pos, local_quat_wxyz=quat)


@pytest.fixture
def cycles():
    """The second of four wandering cycles, the one after it, and how many frames a cycle has."""
    cycle = walk_on_the_spot()
    period = len(cycle) - 1
    whole = wandering(loop_clip(cycle, 4))
    return whole.frames(period, 2 * period + 1), whole.frames(2 * period, 3 * period + 1), period


def test_the_loop_ends_exactly_as_it_begins(cycles):
    cycle, following, period = cycles
    assert measure_seam(cycle).distance_m > 0.01
    loop = make_loop(cycle, following, period, root=0)
    assert len(loop) == len(cycle)
    assert np.array_equal(loop.local_pos[0], loop.local_pos[-1])
    assert measure_seam(loop).within(Seam(0.0, 0.0))


def test_it_goes_on_without_a_jump_and_stays_near_the_cycle(cycles):
    cycle, following, period = cycles
    loop = make_loop(cycle, following, period, root=0)
    twice = np.concatenate([loop.world()[0], loop.world()[0][1:]])
    turns = np.linalg.norm(np.diff(twice, 2, axis=0), axis=-1).max(axis=1)
    assert turns[period - 2 : period + 1].max() < 1.2 * np.delete(turns, np.s_[period - 3 : period + 2]).max()
    assert np.linalg.norm(loop.world()[0] - cycle.world()[0], axis=-1).mean() < 0.04


def test_bones_above_the_body_stay_where_they_are(cycles):
    cycle, following, period = cycles
    loop = make_loop(cycle, following, period, root=cycle.skeleton.index("chest"))
    np.testing.assert_allclose(loop.local_pos[30:, 0], cycle.local_pos[30:, 0], atol=1e-9)


def test_a_seam_is_narrowed_no_further_than_asked_for(cycles):
    cycle = cycles[0]
    wide = measure_seam(cycle)
    assert narrow_seam(cycle, wide) is cycle
    half = Seam(0.5 * wide.angle_rad, 0.5 * wide.distance_m)
    narrowed = narrow_seam(cycle, half)
    assert measure_seam(narrowed).within(half) and measure_seam(narrowed).angle_rad > 0.3 * half.angle_rad
    assert np.array_equal(narrowed.local_quat_wxyz[: len(cycle) // 2], cycle.local_quat_wxyz[: len(cycle) // 2])
    assert measure_seam(narrow_seam(cycle, Seam(0.0, 0.0))).within(Seam(0.0, 0.0))


def begun_later(cycle, frame):
    """The cycle from another frame on, where no heel comes down."""
    return loop_clip(cycle, 2).frames(frame, frame + len(cycle))


@pytest.mark.parametrize("missing", [0, 1])
def test_a_cycle_without_its_last_frame_is_closed(missing):
    whole = begun_later(walk_on_the_spot(fps=30.0), 8)
    clip = whole.frames(0, len(whole) - missing)
    assert count_missing_steps(clip) == pytest.approx(missing, abs=0.1)
    closed = close_cycle(clip)
    assert closed.duration_s == pytest.approx(whole.duration_s, abs=0.1 / 30.0)
    assert measure_seam(closed).angle_rad < 1e-6
    assert (closed is clip) == (not missing)


def test_half_a_frame_is_noticed_too():
    whole = begun_later(walk_on_the_spot(fps=50.0), 14)
    assert len(whole) == 56  # 55 steps at 50 frames a second are 27 and a half at 25
    local = {"local_pos": whole.local_pos[:-1:2], "local_quat_wxyz": whole.local_quat_wxyz[:-1:2]}
    clip = replace(whole, fps=25.0, **local)
    assert count_missing_steps(clip) == pytest.approx(0.5, abs=0.1)
    assert close_cycle(clip).duration_s == pytest.approx(whole.duration_s, abs=0.1 / 25.0)


def test_what_is_no_cycle_misses_nothing():
    clip = walk_on_the_spot().frames(0, 30)
    assert not is_cyclic(clip) and count_missing_steps(clip) == 0.0


def test_repeats_are_counted():
    cycle = walk_on_the_spot()
    assert count_repeats(cycle) == 1
    assert count_repeats(loop_clip(cycle, 3)) == 3
    assert count_repeats(wandering(loop_clip(cycle, 3))) == 1


def test_what_was_made_of_a_loop_is_one():
    source = walk_on_the_spot()
    motion = wandering(source)
    looped = keep_loop(motion, source, root=0)
    assert measure_seam(motion).distance_m > 0.01 and measure_seam(looped).within(measure_seam(source))
    assert np.linalg.norm(looped.world()[0] - motion.world()[0], axis=-1).mean() < 0.03
    turns = np.linalg.norm(np.diff(looped.world()[0], 2, axis=0), axis=-1).max(axis=1)
    assert turns[-20:].max() < 1.2 * turns.max()
    # One that does not end as it begins is none, and what comes of it is left.
    assert keep_loop(motion, source.frames(0, 40), root=0) is motion
