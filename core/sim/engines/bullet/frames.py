# SPDX-License-Identifier: GPL-3.0-or-later
"""Bullet's own frames: every part sits at its centre of mass, turned into the principal axes of its inertia.

Joint rotations, joint velocities and torques of a ball are in that frame too. ``BodyFrames`` knows where it lies in
each link and turns poses and velocities of ``BodyModel`` into Bullet's and back. Quaternions stay wxyz in here; only
``scene`` and ``stepping`` speak xyzw.
"""

import numpy as np

from ....body import BodyModel
from ....geometry.quaternions import IDENTITY, Array, conjugate, from_matrix, multiply, rotate
from ...mass_properties import MassProperties


def principal(solid: MassProperties) -> tuple[Array, Array]:
    """The rotation (4,) of the principal axes in the solid's own frame, and the moments (3,) about them."""
    inertia = solid.inertia
    if np.abs(inertia - np.diag(np.diag(inertia))).max() <= 1e-12 * np.trace(inertia):
        return np.array(IDENTITY), np.diag(inertia).copy()
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    return from_matrix(axes), moments


class BodyFrames:
    """Where Bullet's frames are in the links of a body; L links, B balls, H hinges.

    com: (L, 3) metres and turn: (L, 4): Bullet's frame in the link's. moments: (L, 3), masses: (L,).
    balls, hinges: (B,), (H,) link indices. ball_q, ball_v, hinge_q, hinge_v: their columns in poses and velocities of
    ``BodyModel``. axis: (H, 3) the hinges' axes in Bullet's frames.
    A native pose is position and wxyz of the root's frame (7), then all balls (4 B), then all hinges (H); a native
    velocity is that of the root's centre of mass (3) and its angular velocity (3), both in the world, then balls (3 B)
    and hinges (H). dofs: (nu,) the native order of servo targets and of all that is given for each degree of freedom.
    """

    def __init__(self, body: BodyModel) -> None:
        self.body = body
        links = body.links
        self.parents = np.array([link.parent for link in links])
        self.masses: Array = np.array([link.mass for link in links])
        self.com: Array = np.array([link.com for link in links])
        parts = [principal(MassProperties(link.mass, link.com, link.inertia)) for link in links]
        self.turn: Array = np.array([turn for turn, _ in parts])
        self.moments: Array = np.array([moments for _, moments in parts])
        kinds = np.array([link.joint.kind for link in links])
        self.balls, self.hinges = np.flatnonzero(kinds == "ball"), np.flatnonzero(kinds == "hinge")
        self.ball_q = body.qpos_starts[self.balls, None] + np.arange(4)
        self.ball_v = body.qvel_starts[self.balls, None] + np.arange(3)
        self.hinge_q, self.hinge_v = body.qpos_starts[self.hinges], body.qvel_starts[self.hinges]
        self._q = np.concatenate([np.arange(7), self.ball_q.ravel(), self.hinge_q])
        self._v = np.concatenate([np.arange(6), self.ball_v.ravel(), self.hinge_v])
        self.dofs = self._v[6:] - 6
        axes = np.array([links[index].joint.axis for index in self.hinges]).reshape(-1, 3)
        self.axis: Array = rotate(conjugate(self.turn[self.hinges]), axes)
        self._ball_turn: Array = self.turn[self.balls]

    def quats(self, native_q: Array) -> Array:
        """(..., B, 4) the balls' rotations in native poses (..., nq); a view."""
        count = len(self.balls)
        return native_q[..., 7 : 7 + 4 * count].reshape(*native_q.shape[:-1], count, 4)

    def angles(self, native_q: Array) -> Array:
        """(..., H) the hinges' angles in native poses (..., nq); a view."""
        return native_q[..., 7 + 4 * len(self.balls) :]

    def of_balls(self, values: Array) -> Array:
        """(..., B, 3) the balls' part of native values for each degree of freedom (..., nu); a view."""
        count = len(self.balls)
        return values[..., : 3 * count].reshape(*values.shape[:-1], count, 3)

    def of_hinges(self, values: Array) -> Array:
        """(..., H) the hinges' part of native values for each degree of freedom (..., nu); a view."""
        return values[..., 3 * len(self.balls) :]

    def to_native(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """Poses (..., nq) and velocities (..., nv) as Bullet has them."""
        native_q, native_v = np.asarray(qpos, dtype=float)[..., self._q], np.asarray(qvel, dtype=float)[..., self._v]
        quat = native_q[..., 3:7].copy()
        arm = rotate(quat, self.com[0])
        spin = rotate(quat, native_v[..., 3:6])
        native_q[..., :3] += arm
        native_q[..., 3:7] = multiply(quat, self.turn[0])
        native_v[..., :3] += np.cross(spin, arm)
        native_v[..., 3:6] = spin
        back, quats, rates = conjugate(self._ball_turn), self.quats(native_q), self.of_balls(native_v[..., 6:])
        quats[...] = multiply(multiply(back, quats), self._ball_turn)
        rates[...] = rotate(back, rates)
        return native_q, native_v

    def from_native(self, native_q: Array, native_v: Array) -> tuple[Array, Array]:
        """The inverse of ``to_native``."""
        qpos, qvel = np.empty(native_q.shape), np.empty(native_v.shape)
        qpos[..., self._q], qvel[..., self._v] = native_q, native_v
        quat = multiply(qpos[..., 3:7], conjugate(self.turn[0]))
        arm = rotate(quat, self.com[0])
        spin = qvel[..., 3:6].copy()
        qpos[..., :3] -= arm
        qpos[..., 3:7] = quat
        qvel[..., :3] -= np.cross(spin, arm)
        qvel[..., 3:6] = rotate(conjugate(quat), spin)
        turn = self._ball_turn
        qpos[..., self.ball_q] = multiply(multiply(turn, qpos[..., self.ball_q]), conjugate(turn))
        qvel[..., self.ball_v] = rotate(turn, qvel[..., self.ball_v])
        return qpos, qvel

    def targets_to_native(self, targets: Array) -> Array:
        """Servo targets (..., nu) in native order, with the rotation vectors of balls in Bullet's frames."""
        native = np.asarray(targets, dtype=float)[..., self.dofs]
        balls = self.of_balls(native)
        balls[...] = rotate(conjugate(self._ball_turn), balls)
        return native


class SolidFrame:
    """Bullet's frame in a prop: rows are position, wxyz, velocity, angular velocity (13).

    In our rows the first velocity is the prop's origin's and the second is in the prop's own frame, as a free joint
    has them; in native rows they are the centre of mass's and in the world.
    """

    def __init__(self, solid: MassProperties) -> None:
        self.com = solid.com
        self.turn, self.moments = principal(solid)

    def to_native(self, rows: Array) -> Array:
        """(..., 13) ours to Bullet's."""
        quat, arm = rows[..., 3:7], rotate(rows[..., 3:7], self.com)
        spin = rotate(quat, rows[..., 10:])
        velocity = rows[..., 7:10] + np.cross(spin, arm)
        return np.concatenate([rows[..., :3] + arm, multiply(quat, self.turn), velocity, spin], axis=-1)

    def pose(self, rows: Array) -> tuple[Array, Array]:
        """Positions (..., 3) and rotations (..., 4) of the prop's own frame from native rows."""
        quat = multiply(rows[..., 3:7], conjugate(self.turn))
        return rows[..., :3] - rotate(quat, self.com), quat
