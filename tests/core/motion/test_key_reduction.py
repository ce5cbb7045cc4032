# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys hold their tolerance at every frame, and there are fewer of them."""

from itertools import pairwise

import numpy as np
import pytest

from sinew.core.geometry.quaternions import from_rotation_vector
from sinew.core.motion.key_reduction import (
    choose_keys,
    compute_reaches,
    compute_slopes,
    interpolate_keys,
    measure_channel,
)

from ...stock_clips import stock_clip


def rebuilt(values, keys):
    """Values (T, C) from nothing but the keys and their slopes."""
    slopes, found = compute_slopes(values), np.array(values)
    for start, stop in pairwise(keys):
        found[start + 1 : stop] = interpolate_keys(values, slopes, start, stop)
    return found


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3, 1e-2])
def test_every_frame_is_within_the_tolerance(tolerance):
    clip = stock_clip("dance_a")
    reaches, kept = compute_reaches(clip.skeleton), []
    for bone in range(len(clip.skeleton)):
        distance = measure_channel("rotation_quaternion", float(reaches[bone]), 1.0)
        values = clip.local_quat_wxyz[:, bone]
        keys = choose_keys(values, tolerance, distance)
        assert keys[0] == 0 and keys[-1] == len(clip) - 1 and np.all(np.diff(keys) > 0)
        assert distance(rebuilt(values, keys), values).max() <= tolerance
        kept.append(len(keys) / len(clip))
    assert np.mean(kept) < {1e-4: 1.01, 1e-3: 0.8, 1e-2: 0.4}[tolerance]


def test_what_stays_has_a_key_at_either_end_and_a_cubic_no_more():
    distance = measure_channel("location", 1.0, 1.0)
    assert choose_keys(np.tile([1.0, 2.0, 3.0], (50, 1)), 1e-3, distance).tolist() == [0, 49]
    t = np.linspace(0.0, 1.0, 101)[:, None]
    assert len(choose_keys(t**3 - t, 1e-3, distance)) <= 4


def test_noise_keeps_all_its_keys():
    noise = np.random.default_rng(0).normal(size=(60, 3))
    assert len(choose_keys(noise, 1e-3, measure_channel("location", 1.0, 1.0))) == 60


def test_channels_are_measured_by_what_their_bone_carries():
    one, other = np.zeros((1, 3)), np.array([[0.01, 0.0, 0.0]])
    assert measure_channel("location", 2.0, 0.5)(one, other) == pytest.approx(0.005)
    assert measure_channel("rotation_euler", 2.0, 0.5)(one, other) == pytest.approx(0.02)
    turned = measure_channel("rotation_quaternion", 2.0, 1.0)(from_rotation_vector(one), from_rotation_vector(other))
    assert turned == pytest.approx(0.02)
    axis = np.array([[0.0, 0.0, 1.0, 0.0]]), np.array([[0.01, 0.0, 1.0, 0.0]])
    assert measure_channel("rotation_axis_angle", 2.0, 1.0)(*axis) == pytest.approx(0.02)
