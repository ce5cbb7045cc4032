# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences of poses as plain vectors, laid out like velocities, so that poses can be regressed and steered."""

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, to_rotation_vector
from .model import BodyModel


class PoseSpace:
    """Moves poses of one body by vectors (..., nv), and finds the vector from one pose to another.

    Positions and hinges add; rotations are turned in their own frame. Layouts are ``BodyModel``'s.
    """

    def __init__(self, body: BodyModel) -> None:
        self.nq, self.nv = body.nq, body.nv
        plain, turns, at = [], [], 0
        for link, start in zip(body.links, body.qpos_starts[:-1], strict=True):
            kind = link.joint.kind
            if kind == "free":
                plain += [(start + axis, at + axis) for axis in range(3)]
                turns.append((start + 3, at + 3))
            elif kind == "ball":
                turns.append((start, at))
            else:
                plain.append((start, at))
            at += link.joint.dofs
        self._plain_q, self._plain_v = (np.array(columns, dtype=int) for columns in zip(*plain, strict=True))
        self._turn_q = np.array([[q + k for k in range(4)] for q, _ in turns])
        self._turn_v = np.array([[v + k for k in range(3)] for _, v in turns])

    def moved(self, qpos: Array, by: Array) -> Array:
        """(..., nq) the poses ``qpos`` (..., nq) moved by vectors (..., nv) in metres and radians."""
        found = np.array(np.broadcast_to(qpos, (*np.broadcast_shapes(qpos.shape[:-1], by.shape[:-1]), self.nq)))
        found[..., self._plain_q] += by[..., self._plain_v]
        found[..., self._turn_q] = multiply(found[..., self._turn_q], from_rotation_vector(by[..., self._turn_v]))
        return found

    def between(self, base: Array, other: Array) -> Array:
        """(..., nv) by what ``base`` (..., nq) must be moved to become ``other`` (..., nq)."""
        shape = np.broadcast_shapes(base.shape[:-1], other.shape[:-1])
        found = np.empty((*shape, self.nv))
        found[..., self._plain_v] = other[..., self._plain_q] - base[..., self._plain_q]
        turn = multiply(conjugate(base[..., self._turn_q]), other[..., self._turn_q])
        found[..., self._turn_v] = to_rotation_vector(turn)
        return found
