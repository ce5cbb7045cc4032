# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangent space of poses: differences as plain vectors, laid out like velocities."""

import numpy as np

from ..geometry.quaternions import Array, from_rotation_vector, multiply
from .model import BodyModel


class PoseSpace:
    """Exponential and logarithm map of one body's poses: moves them by vectors (..., nv), and finds those between them.

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

    def integrate(self, qpos: Array, by: Array) -> Array:
        """(..., nq) the poses ``qpos`` (..., nq) moved by vectors (..., nv) in metres and radians."""
        found = np.array(np.broadcast_to(qpos, (*np.broadcast_shapes(qpos.shape[:-1], by.shape[:-1]), self.nq)))
        found[..., self._plain_q] += by[..., self._plain_v]
        found[..., self._turn_q] = multiply(found[..., self._turn_q], from_rotation_vector(by[..., self._turn_v]))
        return found

    def difference(self, base: Array, other: Array) -> Array:
        """(..., nv) by what ``base`` (..., nq) must be moved to become ``other`` (..., nq)."""
        most = max(base.ndim, other.ndim)
        # Numbers of one kind side by side: on the whole this is twice as fast as quaternion by quaternion.
        first = most - 1, *range(most - 1)
        a, b = (pose.reshape((1,) * (most - pose.ndim) + pose.shape).transpose(first).copy() for pose in (base, other))
        found = np.empty((self.nv, *np.broadcast(a[0], b[0]).shape))
        found[self._plain_v] = b[self._plain_q] - a[self._plain_q]
        aw, ax, ay, az = a[self._turn_q.T]
        bw, bx, by, bz = b[self._turn_q.T]
        # conjugate(a) times b, and its logarithm (``core.geometry.quaternions``).
        w = aw * bw + ax * bx + ay * by + az * bz
        x = aw * bx - ax * bw - ay * bz + az * by
        y = aw * by + ax * bz - ay * bw - az * bx
        z = aw * bz - ax * by + ay * bx - az * bw
        sine = np.sqrt(x * x + y * y + z * z)
        angle = 2.0 * np.arctan2(sine, np.abs(w))
        scale = np.where(sine > 1e-8, angle / np.maximum(sine, 1e-12), 2.0)
        scale = np.where(w < 0.0, -scale, scale)
        for turn, part in zip(self._turn_v.T, (x, y, z), strict=True):
            found[turn] = scale * part
        return np.ascontiguousarray(found.transpose(*range(1, most), 0))
