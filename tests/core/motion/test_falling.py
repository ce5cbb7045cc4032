# SPDX-License-Identifier: GPL-3.0-or-later
"""When a character is down, on motions whose answer is known."""

import numpy as np
import pytest

from sinew.core.motion.falling import STRAY, find_fall_time, height_error

DT = 1.0 / 30.0
FRAMES = 90


def standing(height: float = 1.6, links: int = 9) -> np.ndarray:
    """(T, L, 3) a pole of links that walks along X at 1 m/s."""
    pos = np.zeros((FRAMES, links, 3))
    pos[..., 0] = np.arange(FRAMES)[:, None] * DT
    pos[..., 2] = np.linspace(0.05, height, links)
    return pos


def lying(pos: np.ndarray, start: int, stop: int | None = None) -> np.ndarray:
    """The same, flat on the floor for some frames."""
    down = pos.copy()
    down[start:stop, :, 2] = 0.05
    return down


def test_who_keeps_up_has_not_fallen():
    assert find_fall_time(standing(), standing(), DT) is None


@pytest.mark.parametrize("frame", [0, 1, 45, FRAMES - 1])
def test_the_time_is_that_of_the_first_frame_down_for_good(frame):
    assert find_fall_time(standing(), lying(standing(), frame), DT) == pytest.approx(frame * DT)


def test_who_gets_up_again_has_not_fallen():
    assert find_fall_time(standing(), lying(standing(), 30, 60), DT) is None


def test_a_stumble_before_the_fall_is_not_the_fall():
    twice = lying(lying(standing(), 20, 30), 70)
    assert find_fall_time(standing(), twice, DT) == pytest.approx(70 * DT)


def test_being_elsewhere_on_the_floor_is_not_falling():
    aside = standing() + np.array([3.0, -2.0, 0.0])
    assert height_error(standing(), aside).max() == 0.0
    assert find_fall_time(standing(), aside, DT) is None


def test_lying_down_where_the_motion_lies_is_not_falling():
    wanted = lying(standing(), 40)
    assert find_fall_time(wanted, wanted, DT) is None
    assert find_fall_time(wanted, standing(), DT) == pytest.approx(40 * DT)  # to stay up is to lose that motion too


def test_how_far_astray_is_a_share_of_the_height():
    wanted = standing(height=2.05)
    assert height_error(wanted, wanted - np.array([0.0, 0.0, 0.5])) == pytest.approx(np.full(FRAMES, 0.25))
    one = wanted.copy()
    one[:, 0, 2] += 0.9  # of nine links
    assert height_error(wanted, one) == pytest.approx(np.full(FRAMES, 0.05))


@pytest.mark.parametrize("size", [0.1, 1.0, 100.0])
def test_size_does_not_matter(size):
    wanted, seen = size * standing(), size * lying(standing(), 45)
    assert find_fall_time(wanted, seen, DT) == pytest.approx(45 * DT)


def test_just_below_and_above_the_line():
    wanted = standing(height=1.05)  # one metre from the lowest link to the highest
    assert find_fall_time(wanted, wanted - np.array([0.0, 0.0, STRAY - 0.01]), DT) is None
    assert find_fall_time(wanted, wanted - np.array([0.0, 0.0, STRAY + 0.01]), DT) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_is_lost(bad):
    seen = standing()
    seen[60:, 3] = bad
    assert find_fall_time(standing(), seen, DT) == pytest.approx(60 * DT)


def test_a_sideways_blow_up_counts_too():
    seen = standing()
    seen[60:, 3, 0] = np.nan  # heights alone are still numbers
    assert find_fall_time(standing(), seen, DT) == pytest.approx(60 * DT)


def test_a_single_frame_and_a_flat_motion_have_an_answer():
    one = standing()[:1]
    assert find_fall_time(one, one, DT) is None
    flat = np.zeros((5, 3, 3))
    assert find_fall_time(flat, flat, DT) is None
