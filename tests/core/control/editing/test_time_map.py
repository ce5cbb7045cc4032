# SPDX-License-Identifier: GPL-3.0-or-later
"""Time maps: key moments are on time, the pace is smooth, within its bounds, and steady where it is stiff."""

import numpy as np
import pytest

from sinew.core.control.editing.constraints import FrameNumbers
from sinew.core.control.editing.time_map import PaceBounds, invert_time_map, solve_time_map
from sinew.core.errors import BadSettings

FPS = 30.0


def solve(wanted, count=61, stiffness=None):
    return solve_time_map(FPS, np.ones(count - 1) if stiffness is None else stiffness, wanted, PaceBounds())


def test_nothing_wanted_changes_nothing():
    np.testing.assert_allclose(solve({}), np.arange(61) / FPS, atol=1e-12)


@pytest.mark.parametrize("at", [16, 24, 30, 45, 60])
def test_a_key_moment_is_on_time_within_the_bounds_of_the_pace(at):
    times = solve({30: at / FPS})
    steps = np.diff(times) * FPS
    assert times[0] == 0.0 and times[30] == pytest.approx(at / FPS, abs=1e-12)
    assert steps.min() > 0.5 - 1e-6 and steps.max() < 2.0 + 1e-6


def test_several_key_moments_and_the_pace_changes_smoothly():
    times = solve({20: 25 / FPS, 40: 42 / FPS, 60: 60 / FPS})
    assert times[[20, 40, 60]] * FPS == pytest.approx([25.0, 42.0, 60.0], abs=1e-9)
    assert np.abs(np.diff(times, 2)).max() * FPS < 0.12


def test_where_it_is_stiff_the_pace_stays():
    stiffness = np.ones(60)
    stiffness[24:36] = 200.0
    soft, stiff = (np.diff(solve({30: 38 / FPS}, stiffness=each)) * FPS for each in (None, stiffness))
    assert np.abs(stiff[27:33] - 1.0).max() < 0.05 < np.abs(soft[27:33] - 1.0).max()


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (10, ("Frame 31 cannot be at frame 11", "no faster than 2 times", "earliest is frame 16", "latest frame 61")),
        (70, ("Frame 31 cannot be at frame 71", "no slower than 0.5 times", "(0.50 s)", "(2.00 s)")),
    ],
)
def test_what_is_too_soon_or_too_late_says_what_is_possible(at, words):
    with pytest.raises(BadSettings) as caught:
        solve_time_map(FPS, np.ones(60), {30: at / FPS}, PaceBounds(), FrameNumbers(FPS, 1))
    assert all(word in str(caught.value) for word in words)


def test_bounds_of_no_pace_are_refused():
    with pytest.raises(BadSettings, match=r"bounded by 1\.5 and 2"):
        PaceBounds(1.5, 2.0)


def test_the_inverse_has_whole_frames_where_key_moments_are():
    times = solve({30: 37 / FPS, 60: 66 / FPS})
    places = invert_time_map(times, FPS)
    assert len(places) == 67 and places[0] == 0.0 and places[37] == 30.0 and places[66] == 60.0
    assert np.diff(places).min() > 0.0
