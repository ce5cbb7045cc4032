# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the parts of a body are and how they move, for many copies at once, in Bullet's frames."""

from dataclasses import dataclass

import numpy as np

from ....geometry.quaternions import Array, conjugate, from_rotation_vector, to_matrix
from .frames import BodyFrames


@dataclass(frozen=True, eq=False)
class Parts:
    """Centres of mass pos (..., L, 3), principal axes turn (..., L, 3, 3) and joints' origins joint (..., L, 3)."""

    pos: Array
    turn: Array
    joint: Array


class Kinematics:
    """Forward kinematics, momentum and the mass matrix of a body, from native poses and velocities."""

    def __init__(self, frames: BodyFrames) -> None:
        self.frames = frames
        body, parents = frames.body, frames.parents
        back = to_matrix(conjugate(frames.turn))
        turn = to_matrix(frames.turn)
        self._zero: Array = np.tile(np.eye(3), (len(body.links), 1, 1))
        self._joint: Array = np.zeros((len(body.links), 3))  # in the parent's frame of Bullet
        depth = np.zeros(len(body.links), dtype=np.int64)
        within = np.eye(len(body.links), dtype=bool)  # (L, L): whether the first hangs on the second or is it
        for index, link in enumerate(body.links[1:], start=1):
            depth[index] = depth[link.parent] + 1
            within[index] |= within[link.parent]
            self._zero[index] = back[link.parent] @ to_matrix(link.joint.zero_quat_wxyz) @ turn[index]
            self._joint[index] = back[link.parent] @ (link.joint.pos - frames.com[link.parent])
        # Level by level rather than link by link: a humanoid has 13 links, but hands and feet are only four deep.
        levels = [np.flatnonzero(depth == level) for level in range(1, int(depth.max()) + 1)]
        self._levels = [(level, parents[level]) for level in levels]
        self._arm: Array = np.einsum("lij,lj->li", back, frames.com)  # from joint to centre of mass, in Bullet's frame
        # Degrees of freedom: the root's six, then the joints', as in native velocities. A ball's axes are its frame's.
        self._dof_link = np.concatenate([np.zeros(6, dtype=np.int64), np.repeat(frames.balls, 3), frames.hinges])
        self._axes: Array = np.concatenate([np.tile(np.eye(3), (len(frames.balls), 1)), frames.axis])
        self._below: Array = within.T.astype(float)  # (L, L): sums over what hangs on a link
        self._carries = within[np.ix_(self._dof_link, self._dof_link)]  # (nv, nv): whether the second carries the first

    def parts(self, native_q: Array) -> Parts:
        """Forward kinematics of native poses (..., nq)."""
        frames, shape = self.frames, native_q.shape[:-1]
        links = len(frames.parents)
        turn = np.empty((*shape, links, 3, 3))
        pos, joint = np.empty((*shape, links, 3)), np.empty((*shape, links, 3))
        turn[..., 0, :, :] = to_matrix(native_q[..., 3:7])
        turn[..., frames.balls, :, :] = to_matrix(frames.quats(native_q))
        turn[..., frames.hinges, :, :] = to_matrix(
            from_rotation_vector(frames.angles(native_q)[..., None] * frames.axis)
        )
        joint[..., 0, :] = pos[..., 0, :] = native_q[..., :3]
        for level, parents in self._levels:
            parent_turn = turn[..., parents, :, :]
            level_turn = parent_turn @ self._zero[level] @ turn[..., level, :, :]
            origin = pos[..., parents, :] + _times(parent_turn, self._joint[level])
            turn[..., level, :, :] = level_turn
            joint[..., level, :] = origin
            pos[..., level, :] = origin + _times(level_turn, self._arm[level])
        return Parts(pos, turn, joint)

    def velocities(self, parts: Parts, native_v: Array) -> tuple[Array, Array]:
        """Velocities of the centres of mass and angular velocities, both (..., L, 3) in the world."""
        frames = self.frames
        local = np.zeros(parts.pos.shape)
        rates = native_v[..., 6:]
        local[..., frames.balls, :] = frames.of_balls(rates)
        local[..., frames.hinges, :] = frames.of_hinges(rates)[..., None] * frames.axis
        spin, velocity = _times(parts.turn, local), np.empty(parts.pos.shape)
        velocity[..., 0, :], spin[..., 0, :] = native_v[..., :3], native_v[..., 3:6]
        for level, parents in self._levels:
            spin[..., level, :] += spin[..., parents, :]
            to_joint = parts.joint[..., level, :] - parts.pos[..., parents, :]
            to_com = parts.pos[..., level, :] - parts.joint[..., level, :]
            velocity[..., level, :] = (
                velocity[..., parents, :] + cross(spin[..., parents, :], to_joint) + cross(spin[..., level, :], to_com)
            )
        return velocity, spin

    def momentum(self, parts: Parts, velocity: Array, spin: Array) -> tuple[Array, Array, Array]:
        """Centre of mass, its velocity, and angular momentum about it, each (..., 3)."""
        masses = self.frames.masses[:, None]
        total = self.frames.masses.sum()
        com = (masses * parts.pos).sum(axis=-2) / total
        com_velocity = (masses * velocity).sum(axis=-2) / total
        orbital = cross(parts.pos - com[..., None, :], masses * (velocity - com_velocity[..., None, :]))
        own = _times(parts.turn, self.frames.moments * _times(np.swapaxes(parts.turn, -1, -2), spin))
        return com, com_velocity, (orbital + own).sum(axis=-2)

    def mass_matrix(self, parts: Parts) -> Array:
        """(N, nv, nv) for the native velocities of N copies: composite rigid bodies, in the world about the root."""
        count, links = parts.pos.shape[:2]
        masses = self.frames.masses
        lever = parts.pos - parts.pos[:, :1]
        skew = _skew(lever)
        # Spatial inertia of every part, then of all that hangs on it; angular rows and columns first.
        spatial = np.empty((count, links, 6, 6))
        spatial[..., :3, 3:] = masses[:, None, None] * skew
        spatial[..., 3:, :3] = -spatial[..., :3, 3:]
        spatial[..., 3:, 3:] = masses[:, None, None] * np.eye(3)
        turned = parts.turn * self.frames.moments[:, None, :]
        spatial[..., :3, :3] = turned @ np.swapaxes(parts.turn, -1, -2) - spatial[..., :3, 3:] @ skew
        composite = (self._below @ spatial.reshape(count, links, 36)).reshape(count, links, 6, 6)
        screws = np.zeros((count, len(self._dof_link), 6))
        screws[:, :3, 3:] = screws[:, 3:6, :3] = np.eye(3)
        joints = self._dof_link[6:]
        axes = _times(parts.turn[:, joints], self._axes)
        screws[:, 6:, :3] = axes
        screws[:, 6:, 3:] = cross(parts.joint[:, joints] - parts.pos[:, :1], axes)
        carried = _times(composite[:, self._dof_link], screws) @ np.swapaxes(screws, -1, -2)
        lower = np.where(self._carries, carried, 0.0)
        return np.where(self._carries, lower, np.swapaxes(lower, -1, -2))


def cross(a: Array, b: Array) -> Array:
    """(..., 3) cross product; NumPy's own takes four times as long on small arrays."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def _times(matrix: Array, vector: Array) -> Array:
    """(..., M) matrices (..., M, N) times vectors (..., N).

    Column by column: what BLAS makes of so small a product depends, in the last bit, on where in memory it lies.
    """
    total = matrix[..., 0] * vector[..., :1]
    for column in range(1, matrix.shape[-1]):
        total += matrix[..., column] * vector[..., column : column + 1]
    return np.asarray(total)


def _skew(v: Array) -> Array:
    """(..., 3, 3) the matrices that take the cross product with ``v``."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return out
