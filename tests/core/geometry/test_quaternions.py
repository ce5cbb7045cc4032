# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternion kernels agree with scipy's Rotation, everywhere and at the edges."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.spatial.transform import Rotation, Slerp

from sinew.core.geometry import quaternions as q

shapes = array_shapes(max_dims=3, max_side=5)
seeds = st.integers(0, 2**32 - 1)
vectors = arrays(np.float64, 3, elements=st.floats(-10.0, 10.0, allow_subnormal=False))
edges = [0.0, 1e-300, 1e-12, 1e-9, 1e-7, 1e-4, np.pi - 1e-6, np.pi - 1e-9, np.pi]
angles = st.floats(0.0, np.pi) | st.sampled_from(edges)


def random_quats(seed, shape):
    raw = np.random.default_rng(seed).normal(size=(*shape, 4))
    return raw / np.linalg.norm(raw, axis=-1, keepdims=True)


def scipy_of(quats):
    return Rotation.from_quat(quats.reshape(-1, 4)[:, [1, 2, 3, 0]])


def wxyz_of(rotation, shape):
    return rotation.as_quat()[:, [3, 0, 1, 2]].reshape(*shape, 4)


def random_axis(seed):
    axis = np.random.default_rng(seed).normal(size=3)
    return axis / np.linalg.norm(axis)


def assert_same_rotation(a, b, atol=1e-12):
    """Equal up to the sign, which means the same rotation."""
    a, b = np.broadcast_arrays(a, b)
    sign = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0, -1.0, 1.0)
    np.testing.assert_allclose(a * sign, b, atol=atol)


@given(seeds, shapes)
def test_multiply_rotates_by_the_right_one_first(seed, shape):
    a, b = random_quats(seed, shape), random_quats(seed + 1, shape)
    assert_same_rotation(q.multiply(a, b), wxyz_of(scipy_of(a) * scipy_of(b), shape))


@given(seeds, shapes)
def test_rotate_turns_vectors_as_scipy_does(seed, shape):
    quats = random_quats(seed, shape)
    points = np.random.default_rng(seed).normal(scale=10.0, size=(*shape, 3))
    expected = scipy_of(quats).apply(points.reshape(-1, 3)).reshape(*shape, 3)
    np.testing.assert_allclose(q.rotate(quats, points), expected, atol=1e-12)


def test_one_rotation_turns_many_points_and_many_rotations_one_point():
    quats, points = random_quats(1, (4, 1)), np.random.default_rng(2).normal(size=(5, 3))
    turned = q.rotate(quats, points)
    assert turned.shape == (4, 5, 3)
    np.testing.assert_allclose(turned[2, 3], q.rotate(quats[2, 0], points[3]), atol=1e-15)


@given(seeds, shapes)
def test_conjugate_undoes(seed, shape):
    quats = random_quats(seed, shape)
    assert_same_rotation(q.multiply(quats, q.conjugate(quats)), q.IDENTITY)
    assert_same_rotation(q.conjugate(quats), wxyz_of(scipy_of(quats).inv(), shape))


@given(seeds, angles)
def test_exp_and_log_agree_with_scipy_at_every_angle(seed, angle):
    rotation_vector = random_axis(seed) * angle
    quat = q.from_rotation_vector(rotation_vector)
    assert_same_rotation(quat, Rotation.from_rotvec(rotation_vector).as_quat()[[3, 0, 1, 2]])
    back = q.to_rotation_vector(quat)
    # At half a turn the axis may come back the other way round, which is the same rotation.
    if angle > np.pi - 1e-7 and np.dot(back, rotation_vector) < 0:
        back = -back
    np.testing.assert_allclose(back, rotation_vector, rtol=1e-9, atol=1e-300)


@given(vectors)
@example(np.array([7.0, 0.0, 0.0]))
def test_log_gives_the_shorter_way_round(rotation_vector):
    quat = q.from_rotation_vector(rotation_vector)
    assert np.linalg.norm(quat) == pytest.approx(1.0, abs=1e-12)
    log = q.to_rotation_vector(quat)
    assert np.linalg.norm(log) <= np.pi + 1e-12
    np.testing.assert_allclose(q.to_rotation_vector(-quat), log, atol=1e-6 if quat[0] == 0.0 else 1e-12)
    assert_same_rotation(q.from_rotation_vector(log), quat, atol=1e-9)


def test_tiny_rotations_keep_their_digits():
    tiny = np.array([3e-9, -4e-9, 1e-15])
    np.testing.assert_allclose(q.to_rotation_vector(q.from_rotation_vector(tiny)), tiny, rtol=1e-14, atol=0)
    np.testing.assert_array_equal(q.from_rotation_vector(np.zeros(3)), q.IDENTITY)


@given(seeds, angles)
def test_angle_between_is_the_angle_turned(seed, angle):
    a = random_quats(seed, ())
    b = q.multiply(a, q.from_rotation_vector(random_axis(seed + 1) * angle))
    # Quaternions of order one are rounded at 1e-16, so that is all that is known of an angle.
    assert q.angle_between(a, b) == pytest.approx(angle, rel=1e-9, abs=1e-15)
    assert q.angle_between(a, -b) == pytest.approx(angle, rel=1e-9, abs=1e-15)


@given(seeds, st.floats(0.0, 1.0), angles)
def test_slerp_agrees_with_scipy(seed, t, angle):
    # At half a turn both ways are as short; scipy and we may differ in which we take.
    angle = min(angle, np.pi - 1e-5)
    a = random_quats(seed, ())
    b = q.multiply(a, q.from_rotation_vector(random_axis(seed + 1) * angle))
    between = q.slerp(a, b, np.array(t))
    expected = Slerp([0.0, 1.0], scipy_of(np.stack([a, b])))(t).as_quat()[[3, 0, 1, 2]]
    assert_same_rotation(between, expected, atol=1e-9)
    assert_same_rotation(q.slerp(a, -b, np.array(t)), expected, atol=1e-9)
    assert q.angle_between(a, between) == pytest.approx(t * angle, abs=1e-9)


def test_slerp_starts_and_ends_where_it_should():
    a, b = random_quats(3, (7,)), random_quats(4, (7,))
    assert_same_rotation(q.slerp(a, b, np.zeros(7)), a)
    assert_same_rotation(q.slerp(a, b, np.ones(7)), b)


@given(seeds, shapes)
def test_matrices_agree_with_scipy_both_ways(seed, shape):
    quats = random_quats(seed, shape)
    matrices = scipy_of(quats).as_matrix().reshape(*shape, 3, 3)
    np.testing.assert_allclose(q.to_matrix(quats), matrices, atol=1e-12)
    assert_same_rotation(q.from_matrix(matrices), quats)


@given(seeds, angles)
def test_matrices_of_any_angle_about_axes_and_between_come_back(seed, angle):
    for axis in (*np.eye(3), -np.eye(3)[1], random_axis(seed)):
        quat = q.from_rotation_vector(axis * angle)
        assert_same_rotation(q.from_matrix(q.to_matrix(quat)), quat, atol=1e-9)


@given(seeds, st.integers(1, 12))
def test_without_flips_changes_signs_only_and_never_jumps(seed, frames):
    rng = np.random.default_rng(seed)
    steps = q.from_rotation_vector(rng.uniform(-0.8, 0.8, size=(frames, 2, 3)))
    quats = [random_quats(seed, (2,))]
    for step in steps:
        quats.append(q.multiply(step, quats[-1]))
    smooth = np.array(quats)
    signs = rng.choice([-1.0, 1.0], size=(frames + 1, 2, 1))
    mended = q.unroll(smooth * signs)
    np.testing.assert_array_equal(mended, smooth * signs[:1])


def test_normalized_makes_units_and_of_nothing_the_identity():
    quats = np.array([[0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [1e-5, 1e-5, 0.0, 0.0], [1e200, 0.0, 1e200, 0.0]])
    unit = q.normalize(quats)
    np.testing.assert_array_equal(unit[:2], [q.IDENTITY, q.IDENTITY])
    np.testing.assert_allclose(unit[2], [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    np.testing.assert_allclose(unit[3], [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])


@given(seeds, shapes)
def test_normalizing_twice_changes_not_a_bit(seed, shape):
    once = q.normalize(np.random.default_rng(seed).normal(size=(*shape, 4)))
    assert q.normalize(once).tobytes() == once.tobytes()


def test_the_identity_cannot_be_written_over():
    with pytest.raises(ValueError, match="read-only"):
        q.IDENTITY[0] = 0.0
