# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities by finite differences: central inside, one-sided at the ends."""

import numpy as np

from .quaternions import Array, conjugate, multiply, to_rotation_vector


def velocity(position: Array, dt_s: float) -> Array:
    """(T, ...) units per second of samples ``dt_s`` apart; zeros for a single frame."""
    if len(position) < 2:
        return np.zeros_like(position)
    return np.asarray(np.gradient(position, dt_s, axis=0))


def angular_velocity(quat_wxyz: Array, dt_s: float) -> Array:
    """(T, ..., 3) radians per second in the outer (world or parent) frame, of rotations (T, ..., 4).

    The rotation across two frames is taken as one turn, so a speed of up to pi per two frames is exact
    for a steady spin.
    """
    if len(quat_wxyz) < 2:
        return np.zeros((*quat_wxyz.shape[:-1], 3))
    turn = _turn(quat_wxyz[:-1], quat_wxyz[1:]) / dt_s
    centre = _turn(quat_wxyz[:-2], quat_wxyz[2:]) / (2.0 * dt_s)
    return np.concatenate([turn[:1], centre, turn[-1:]], axis=0)


def _turn(a: Array, b: Array) -> Array:
    """(..., 3) rotation vector that takes ``a`` to ``b``, in the outer frame."""
    return to_rotation_vector(multiply(b, conjugate(a)))
