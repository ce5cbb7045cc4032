# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothed poses lose what is fast, keep what is slow, and do not lag."""

import numpy as np
import pytest

from sinew.core.body.pose_smoothing import smooth_poses
from sinew.core.body.pose_space import PoseSpace
from sinew.core.geometry.quaternions import from_rotation_vector, to_rotation_vector

from ..sim import bodies

FPS = 60.0


def swinging(hertz: float, radians: float = 0.3):
    """A chain whose first ball swings about X, and its space."""
    body = bodies.chain(3)
    qpos = np.zeros((241, body.nq))
    qpos[:, 3], qpos[:, 7] = 1.0, 1.0
    angle = radians * np.sin(2.0 * np.pi * hertz * np.arange(241) / FPS)
    qpos[:, 7:11] = from_rotation_vector(angle[:, None] * [1.0, 0.0, 0.0])
    return PoseSpace(body), qpos, angle


@pytest.mark.parametrize(
    ("hertz", "strength", "left"), [(0.2, 1.0, 0.99), (2.0, 1.0, 0.45), (8.0, 0.3, 0.32), (2.0, 0.3, 0.93)]
)
def test_what_is_fast_goes_and_what_is_slow_stays(hertz, strength, left):
    space, qpos, angle = swinging(hertz)
    smooth = to_rotation_vector(smooth_poses(space, qpos, strength, FPS)[:, 7:11])[:, 0]
    middle = slice(40, 200)
    gain = smooth[middle] @ angle[middle] / (angle[middle] @ angle[middle])
    assert gain == pytest.approx(left, abs=0.04)
    assert np.abs(smooth[middle] - gain * angle[middle]).max() < 0.01  # in phase


def test_both_ends_stay_and_nothing_is_done_without_strength():
    space, qpos, _ = swinging(3.0)
    smooth = smooth_poses(space, qpos, 1.0, FPS)
    np.testing.assert_allclose(smooth[[0, -1]], qpos[[0, -1]], atol=1e-12)
    assert smooth_poses(space, qpos, 0.0, FPS) is qpos


def test_what_comes_before_a_blow_up_is_smoothed_without_it():
    space, qpos, _ = swinging(3.0)
    qpos[120:] = np.nan
    smooth = smooth_poses(space, qpos, 1.0, FPS)
    assert np.isfinite(smooth[:120]).all() and np.isnan(smooth[120:]).all()
