# SPDX-License-Identifier: GPL-3.0-or-later
"""Finite-difference velocities: exact for steady motion, second order otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sinew.core.geometry import quaternions as q
from sinew.core.geometry.differences import angular_velocity, velocity

seeds = st.integers(0, 2**32 - 1)
rates = st.sampled_from([15.0, 24.0, 30.0, 60.0, 120.0, 240.0])


@given(seeds, st.integers(2, 9), rates)
def test_a_steady_speed_is_exact_at_every_frame(seed, frames, fps):
    rng = np.random.default_rng(seed)
    start, speed = rng.normal(size=(2, 4, 3))
    times = np.arange(frames)[:, None, None] / fps
    found = velocity(start + speed * times, 1.0 / fps)
    np.testing.assert_allclose(found, np.broadcast_to(speed, found.shape), atol=1e-10)


@given(seeds, st.integers(3, 9), rates)
def test_a_steady_fall_is_exact_inside(seed, frames, fps):
    fall = np.random.default_rng(seed).normal(scale=10.0, size=3)
    times = np.arange(frames)[:, None] / fps
    found = velocity(0.5 * fall * times**2, 1.0 / fps)
    np.testing.assert_allclose(found[1:-1], (fall * times)[1:-1], atol=1e-9)


@given(seeds, st.integers(2, 9), rates, st.floats(0.0, 0.99))
def test_a_steady_spin_is_exact_up_to_half_a_turn_in_two_frames(seed, frames, fps, share):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    spin = axis / np.linalg.norm(axis) * share * 0.5 * np.pi * fps
    start = rng.normal(size=4)
    start /= np.linalg.norm(start)
    times = np.arange(frames)[:, None] / fps
    found = angular_velocity(q.multiply(q.from_rotation_vector(spin * times), start), 1.0 / fps)
    np.testing.assert_allclose(found, np.broadcast_to(spin, (frames, 3)), atol=1e-7)


@given(seeds, rates)
def test_each_turn_is_what_scipy_finds_and_signs_do_not_matter(seed, fps):
    rng = np.random.default_rng(seed)
    rotations = Rotation.random(6, random_state=seed)
    quats = rotations.as_quat()[:, [3, 0, 1, 2]] * rng.choice([-1.0, 1.0], size=(6, 1))
    found = angular_velocity(quats, 1.0 / fps)
    first = (rotations[1] * rotations[0].inv()).as_rotvec() * fps
    inside = (rotations[2:] * rotations[:-2].inv()).as_rotvec() * fps / 2.0
    last = (rotations[5] * rotations[4].inv()).as_rotvec() * fps
    np.testing.assert_allclose(found, np.vstack([first, inside, last]), atol=1e-5)


def test_an_uneven_spin_is_right_to_second_order():
    def error(fps):
        times = np.arange(int(fps) + 1) / fps
        angle = np.sin(2.0 * times)[:, None] * np.array([0.0, 0.0, 1.0])
        found = angular_velocity(q.from_rotation_vector(angle), 1.0 / fps)[1:-1, 2]
        return np.abs(found - 2.0 * np.cos(2.0 * times[1:-1])).max()

    assert error(60.0) / error(120.0) == pytest.approx(4.0, rel=0.02)


def test_one_frame_stands_still():
    assert not velocity(np.ones((1, 3, 3)), 0.1).any()
    still = angular_velocity(np.tile(q.IDENTITY, (1, 3, 1)), 0.1)
    assert still.shape == (1, 3, 3)
    assert not still.any()


def test_two_frames_share_one_turn():
    quats = q.from_rotation_vector(np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]]))
    np.testing.assert_allclose(angular_velocity(quats, 0.1), [[0.0, 3.0, 0.0]] * 2, atol=1e-12)
