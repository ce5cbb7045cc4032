# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges in a row as one joint: the angles with which the last link turns as it should, within their limits.

Two hinges leave one way of turning out, and three all but none. Damped least squares on the rotation that is missing,
from a frame's first guess and then, where that led elsewhere than the frame before, from there: what is a small step of
the limb is to be a small step of every hinge.
"""

from collections.abc import Sequence

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate, to_rotation_vector
from .model import Joint

_STEPS, _DAMPING = 25, 1e-3
_JUMP = 0.5  # radians from frame to frame that no hinge turns
_WORSE = 0.05  # radians that going on from the frame before may be further off


def solve_hinge_row(joints: Sequence[Joint], wanted: Array, first: Array) -> Array:
    """(T, n) radians of hinges whose last link is to be turned by ``wanted`` (T, 4) in the first one's parent's frame.

    first: (T, n) where to begin. Angles are as near as their limits let them be.
    """
    low, high = (np.array([getattr(joint, name) for joint in joints]) for name in ("lower", "upper"))
    whole = 2.0 * np.pi * np.round((first - 0.5 * (low + high)) / (2.0 * np.pi))
    angles = _descend(joints, wanted, np.clip(first - whole, low, high), low, high)
    plain = _descend(joints, wanted, np.broadcast_to(np.clip(0.0, low, high), angles.shape), low, high)
    better = _missing(joints, wanted, plain)[0] < _missing(joints, wanted, angles)[0] - _WORSE
    angles = np.where(better[:, None], plain, angles)
    for frame in range(1, len(angles)):
        if np.abs(angles[frame] - angles[frame - 1]).max() < _JUMP:
            continue
        one = wanted[frame : frame + 1]
        onward = _descend(joints, one, angles[frame - 1 : frame], low, high)
        if _missing(joints, one, onward)[0][0] < _missing(joints, one, angles[frame : frame + 1])[0][0] + _WORSE:
            angles[frame] = onward[0]
    return angles


def _descend(joints: Sequence[Joint], wanted: Array, angles: Array, low: Array, high: Array) -> Array:
    angles, off = np.array(angles), _missing(joints, wanted, angles)
    identity = _DAMPING * np.eye(len(joints))
    for _ in range(_STEPS):
        _, vectors, axes = off
        square = np.einsum("tin,tim->tnm", axes, axes) + identity
        # A hinge at its limit that would go on is left out, so that the others make up for it.
        slope = np.einsum("tin,ti->tn", axes, vectors)
        held = ((angles <= low) & (slope < 0.0)) | ((angles >= high) & (slope > 0.0))
        square = np.where(held[:, :, None] | held[:, None, :], 0.0, square) + held[:, :, None] * np.eye(len(joints))
        step = np.linalg.solve(square, np.where(held, 0.0, slope)[..., None])[..., 0]
        tried = np.clip(angles + np.clip(step, -_JUMP, _JUMP), low, high)
        after = _missing(joints, wanted, tried)
        better = after[0] < off[0]
        if not better.any():
            break
        angles = np.where(better[:, None], tried, angles)
        off = _missing(joints, wanted, angles)
    return angles


def _missing(joints: Sequence[Joint], wanted: Array, angles: Array) -> tuple[Array, Array, Array]:
    """Radians (T,) that are missing, as vectors (T, 3) in the last link's frame, and every hinge's axis (T, 3, n)."""
    own = np.broadcast_to([1.0, 0.0, 0.0, 0.0], wanted.shape)
    turns = []
    for column, joint in enumerate(joints):
        turns.append(multiply(joint.zero_quat_wxyz, from_rotation_vector(angles[:, column, None] * joint.axis)))
        own = multiply(own, turns[-1])
    vectors = to_rotation_vector(multiply(conjugate(own), wanted))
    axes = np.empty((len(wanted), 3, len(joints)))
    below = np.broadcast_to([1.0, 0.0, 0.0, 0.0], wanted.shape)
    for column in range(len(joints) - 1, -1, -1):
        axes[:, :, column] = rotate(conjugate(below), np.broadcast_to(joints[column].axis, (len(wanted), 3)))
        below = multiply(turns[column], below)
    return np.linalg.norm(vectors, axis=-1), vectors, axes
