# SPDX-License-Identifier: GPL-3.0-or-later
"""Every method gets its source from one preparation, which says what it found."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.tracking.source_preparation import CYCLES, clean_source, prepare_source
from sinew.core.geometry.quaternions import from_rotation_vector, multiply
from sinew.core.motion.io import stock
from sinew.core.motion.loops import loop_clip


def kinds(report):
    return [finding.kind for finding in report.findings]


def shaken(clip, degrees, seed=0):
    """The clip with noise on all rotations, from frame to frame."""
    noise = np.radians(degrees) * np.random.default_rng(seed).normal(size=(*clip.local_quat_wxyz.shape[:2], 3))
    return replace(clip, local_quat_wxyz=multiply(clip.local_quat_wxyz, from_rotation_vector(noise)))


def spiked(clip, frame, bone):
    quat = np.array(clip.local_quat_wxyz)
    quat[frame, bone] = multiply(quat[frame, bone], from_rotation_vector(np.array([1.5, 0.0, 0.0])))
    return replace(clip, local_quat_wxyz=quat)


def test_a_sound_clip_is_cleaned_to_itself():
    clip = stock.load_stock("walk")
    cleaned, report = clean_source(clip)
    assert cleaned is clip and not report.findings and not report.jittery


def test_two_steps_are_one(body):
    """A clip that was cleaned first is prepared to the same bits, and what was found is told once."""
    clip = shaken(stock.load_stock("walk"), 3.0)
    whole, found = prepare_source(body, clip, name="Anna")
    cleaned, first = clean_source(clip, name="Anna")
    parts, then = prepare_source(body, cleaned, cleaned=first, name="Anna")
    np.testing.assert_array_equal(whole.local_quat_wxyz, parts.local_quat_wxyz)
    np.testing.assert_array_equal(whole.local_pos, parts.local_pos)
    assert found.jittery and kinds(found) == [*kinds(first), *kinds(then)] and "tremble" in kinds(first)
    assert all(finding.message.startswith("Anna: ") for finding in found.findings)


def test_findings_of_a_cycle_are_those_of_one_cycle(body):
    clip = spiked(stock.load_stock("walk"), 20, 4)
    _, once = clean_source(clip)
    cycle, report = clean_source(clip, cycles=CYCLES)
    assert len(cycle) == CYCLES * (len(clip) - 1) + 1 and report.begin_s == 2 * clip.duration_s
    assert kinds(once) == kinds(report) == ["repair"]
    assert once.findings == report.findings


def test_flights_are_retimed_unless_something_else_has_its_own_time(body):
    fast = stock.load_stock("jump").frames(36, 92).with_fps(75.0)  # 1.25 times too fast
    retimed, report = prepare_source(body, fast)
    assert kinds(report)[-1] == "flight" and report.times_s is not None and len(report.times_s) == len(retimed)
    assert report.findings[-1].hint == "" or "frame rate" in report.findings[-1].hint
    left, told = prepare_source(body, fast, fixed_time="the props")
    assert kinds(told)[-1] == "flight" and told.times_s is None and len(left) == len(fast)
    assert "because of the props" in told.findings[-1].message
    kept, untold = prepare_source(body, fast, gravity_m_s2=None)
    assert "flight" not in kinds(untold)
    np.testing.assert_array_equal(kept.local_quat_wxyz, left.local_quat_wxyz)


@pytest.mark.parametrize("name", ["walk", "run"])
def test_a_cycle_is_prepared_among_others_like_it(body, name):
    clip = stock.load_stock(name)
    one, _ = prepare_source(body, clip, cycles=CYCLES)
    other, _ = prepare_source(body, loop_clip(clip, CYCLES))
    np.testing.assert_array_equal(one.local_quat_wxyz, other.local_quat_wxyz)
