# SPDX-License-Identifier: GPL-3.0-or-later
"""States as section 3 has them: all links in the facing frame, six numbers a rotation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.poses import link_transforms
from ...geometry.quaternions import Array, rotate
from ..tracking.facing import rotate_about_z, twist_angle, upright_rotation

Floats = NDArray[np.float32]
NUMBERS = 15
"""Numbers of a link: place 3, two columns of its rotation 6, velocity 3, angular velocity 3."""
_MOST = 50.0
_X: Array = np.array([1.0, 0.0, 0.0])
_Y: Array = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class BodyState:
    """N bodies at a moment. rows: (N, 15 L) of float32 in the facing frame, link by link. root: (N, 3) metres and
    heading: (N,) radians about Z place that frame in the world. pos: (N, L, 3) metres in the world.
    """

    rows: Floats
    root: Array
    heading: Array
    pos: Array

    @property
    def link_pos(self) -> Floats:
        """(N, L, 3) metres in the facing frame: on the ground below the root, along its heading."""
        return self.rows.reshape(len(self.rows), -1, NUMBERS)[:, :, :3]


class StateReader:
    """Describes states of one body."""

    def __init__(self, body: BodyModel) -> None:
        self.body = body
        self.size = NUMBERS * len(body.links)
        self._upright = upright_rotation(body)

    def __call__(self, qpos: Array, qvel: Array, placed: tuple[Array, Array] | None = None) -> BodyState:
        """N bodies in poses (N, nq) at velocities (N, nv). placed: links' places and rotations, where known."""
        pos, quat = link_transforms(self.body, qpos) if placed is None else placed
        velocity, spin = link_velocities(self.body, pos, quat, qvel)
        heading = twist_angle(quat[:, 0], self._upright)
        root = pos[:, 0].copy()
        apart = pos - root[:, None] * (1.0, 1.0, 0.0)
        columns = (rotate(quat, np.broadcast_to(axis, pos.shape)) for axis in (_X, _Y))
        parts = np.stack([apart, *columns, velocity, spin], axis=2)
        rows = rotate_about_z(-heading, parts).reshape(len(pos), -1).astype(np.float32)
        np.nan_to_num(rows, copy=False, nan=0.0, posinf=_MOST, neginf=-_MOST)
        return BodyState(np.clip(rows, -_MOST, _MOST, out=rows), root, heading, pos)


def link_velocities(body: BodyModel, pos: Array, quat: Array, qvel: Array) -> tuple[Array, Array]:
    """(N, L, 3) m/s of the links' origins and (N, L, 3) rad/s, in the world, at velocities (N, nv)."""
    velocity, spin = np.empty(pos.shape), np.empty(pos.shape)
    starts = body.qvel_starts
    for index, link in enumerate(body.links):
        rates = qvel[:, starts[index] : starts[index + 1]]
        if link.parent < 0:
            velocity[:, index] = rates[:, :3]
            spin[:, index] = rotate(quat[:, index], rates[:, 3:])
            continue
        own = rates * link.joint.axis if link.joint.kind == "hinge" else rates
        above = spin[:, link.parent]
        spin[:, index] = above + rotate(quat[:, index], own)
        apart = pos[:, index] - pos[:, link.parent]
        velocity[:, index] = velocity[:, link.parent] + np.cross(above, apart)
    return velocity, spin
