# SPDX-License-Identifier: GPL-3.0-or-later
"""Travel goes on from cycle to cycle, and what it is given to it can be taken from again."""

import numpy as np
import pytest

from sinew.core.motion.travel import apply_travel, remove_travel

from ...on_the_spot import steady_travel, walk_on_the_spot


def test_a_straight_travel_goes_on_at_its_speed():
    travel = steady_travel(1.2, 0.8)
    times = np.array([-0.8, 0.0, 0.3, 0.8, 2.0, 4.0])
    yaw, shift = travel.at(times)
    np.testing.assert_allclose(shift, np.stack([0.0 * times, -1.2 * times], axis=-1), atol=1e-9)
    assert not yaw.any()
    assert travel.speed_m_s == pytest.approx(1.2) and travel.step_m == pytest.approx(0.96)


def test_a_turning_travel_is_a_circle():
    travel = steady_travel(1.0, 0.5, yaw_rad_s=0.8)
    times = np.arange(0.0, 8.0, 0.05)
    yaw, shift = travel.at(times)
    np.testing.assert_allclose(yaw, 0.8 * times)
    # Whoever goes along -Y and turns left has the centre of the circle on the left, which is +X.
    np.testing.assert_allclose(np.linalg.norm(shift - [1.0 / 0.8, 0.0], axis=-1), 1.0 / 0.8, atol=1e-4)


@pytest.mark.parametrize("yaw_rad_s", [0.0, -1.1])
def test_what_was_given_can_be_taken_off(yaw_rad_s):
    clip = walk_on_the_spot()
    travel = steady_travel(yaw_rad_s=yaw_rad_s)
    times = 2.5 + np.arange(len(clip)) / clip.fps
    there = apply_travel(clip, travel, times)
    back = remove_travel(there, travel, times)
    assert np.abs(there.world()[0] - clip.world()[0]).max() > 1.0
    np.testing.assert_allclose(back.world()[0], clip.world()[0], atol=1e-9)
