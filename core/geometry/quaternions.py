# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit quaternions ``wxyz`` as arrays ``(..., 4)``; every function broadcasts and is pure."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])
IDENTITY.setflags(write=False)


def normalize(q: Array) -> Array:
    """(..., 4) scaled to unit length; a zero quaternion becomes the identity.

    What is of unit length already is left as it is, to the last bit, so that doing it twice changes nothing.
    """
    largest = np.max(np.abs(q), axis=-1, keepdims=True)
    scaled = q / np.where(largest > 1e-12, largest, 1.0)  # huge values would overflow when squared
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    unit = np.abs(largest * length - 1.0) < 2e-15
    return np.asarray(np.where(unit, q, np.where(largest > 1e-12, scaled / np.maximum(length, 1e-12), IDENTITY)))


def conjugate(q: Array) -> Array:
    """(..., 4) inverse rotation of a unit quaternion."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def multiply(a: Array, b: Array) -> Array:
    """(..., 4) Hamilton product: rotate by ``b``, then by ``a``."""
    a, b = np.asarray(a), np.asarray(b)
    aw, ax, ay, az = (a[..., part] for part in range(4))
    bw, bx, by, bz = (b[..., part] for part in range(4))
    found = np.empty(np.broadcast(a, b).shape, dtype=np.result_type(a, b))
    found[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    found[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    found[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    found[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return found


def rotate(q: Array, v: Array) -> Array:
    """(..., 3) vectors ``v`` turned by ``q`` (..., 4)."""
    q, v = np.asarray(q), np.asarray(v)
    w, x, y, z = (q[..., part] for part in range(4))
    vx, vy, vz = (v[..., part] for part in range(3))
    # v + w t + u x t with t = 2 u x v, spelled out: NumPy's own cross product mostly shuffles axes.
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    found = np.empty((*np.broadcast(w, vx).shape, 3), dtype=np.result_type(q, v))
    found[..., 0] = vx + w * tx + (y * tz - z * ty)
    found[..., 1] = vy + w * ty + (z * tx - x * tz)
    found[..., 2] = vz + w * tz + (x * ty - y * tx)
    return found


def from_rotation_vector(rotation_vector: Array) -> Array:
    """(..., 4) exponential map: axis times angle in radians, (..., 3), to quaternion."""
    angle = np.linalg.norm(rotation_vector, axis=-1, keepdims=True)
    half = 0.5 * angle
    # sin(x)/x by its series near zero, where the quotient loses its digits.
    scale = np.where(angle > 1e-6, np.sin(half) / np.maximum(angle, 1e-12), 0.5 - angle**2 / 48.0)
    return np.concatenate([np.cos(half), scale * rotation_vector], axis=-1)


def to_rotation_vector(q: Array) -> Array:
    """(..., 3) logarithm: the shortest rotation's axis times its angle in radians, 0 to pi."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    scale = np.where(sine > 1e-8, angle / np.maximum(sine, 1e-12), 2.0)
    return np.asarray(scale * q[..., 1:])


def angle_between(a: Array, b: Array) -> Array:
    """(...) radians of the shortest rotation from ``a`` to ``b``, accurate near zero."""
    return np.asarray(np.linalg.norm(to_rotation_vector(multiply(conjugate(a), b)), axis=-1))


def slerp(a: Array, b: Array, t: Array) -> Array:
    """(..., 4) constant-speed way from ``a`` (t = 0) to ``b`` (t = 1) by the shorter side; t is (...)."""
    step = to_rotation_vector(multiply(conjugate(a), b))
    return multiply(a, from_rotation_vector(step * np.asarray(t)[..., None]))


def unroll(q: Array) -> Array:
    """(T, ..., 4) the same rotations with signs chosen so that each frame is nearest to the one before."""
    dots = np.sum(q[1:] * q[:-1], axis=-1)
    signs = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    return np.concatenate([q[:1], q[1:] * signs[..., None]], axis=0)


def from_matrix(matrix: Array) -> Array:
    """(..., 4) of rotation matrices (..., 3, 3), by the numerically largest component."""
    m = np.asarray(matrix, dtype=float)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    yz, zx, xy = (m[..., i, j] + m[..., j, i] for i, j in ((1, 2), (2, 0), (0, 1)))
    wx, wy, wz = (m[..., j, i] - m[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1)))
    # Four candidates, each exact where its own component is not small; take the largest for every entry.
    candidates = np.stack(
        [
            np.stack([1 + xx + yy + zz, wx, wy, wz], -1),
            np.stack([wx, 1 + xx - yy - zz, xy, zx], -1),
            np.stack([wy, xy, 1 - xx + yy - zz, yz], -1),
            np.stack([wz, zx, yz, 1 - xx - yy + zz], -1),
        ],
        axis=-2,
    )
    largest = np.argmax(np.stack([xx + yy + zz, xx, yy, zz], -1), axis=-1)
    chosen = np.take_along_axis(candidates, largest[..., None, None], axis=-2)[..., 0, :]
    return normalize(chosen)


def to_matrix(q: Array) -> Array:
    """(..., 3, 3) rotation matrices of unit quaternions."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1),
        ],
        axis=-2,
    )
