# SPDX-License-Identifier: GPL-3.0-or-later
"""Angles are the same to the last bit wherever their arrays were allocated."""

import numpy as np

from sinew.core.control.tracking.facing import twist_angle
from sinew.core.geometry.angles import arctan2_exact
from sinew.core.geometry.quaternions import normalize


def test_the_last_bit_does_not_depend_on_memory():
    rng, kept = np.random.default_rng(0), []
    for _ in range(5000):
        quat = rng.normal(size=(int(rng.integers(1, 200)), 4))
        whole = [np.array(quat[:, 3]), np.array(quat[:, 0])]
        assert np.array_equal(arctan2_exact(quat[:, 3], quat[:, 0]), np.arctan2(*whole))
        kept = [*kept[-100:], np.zeros(int(rng.integers(1, 300)))]  # so that other places are free each time


def test_the_same_turn_is_the_same_number_each_time():
    rng, kept = np.random.default_rng(1), []
    quat, base = (normalize(rng.normal(size=(57, 4))) for _ in range(2))
    known = twist_angle(quat, base)
    for _ in range(3000):
        assert np.array_equal(twist_angle(np.array(quat), base), known)
        kept = [*kept[-100:], np.zeros(int(rng.integers(1, 300)))]
