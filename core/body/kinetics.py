# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities of the links of a body, and their kinetic energy."""

from functools import cached_property

import numpy as np

from ..geometry.quaternions import Array, rotate, to_matrix
from .model import BodyModel


class Kinetics:
    """Link velocities and kinetic energy from link frames and joint rates of one body; layouts are ``BodyModel``'s."""

    def __init__(self, body: BodyModel) -> None:
        self.body = body
        self.mass: Array = np.array([link.mass for link in body.links])

    @cached_property
    def _coms(self) -> Array:
        return np.array([link.com for link in self.body.links])

    @cached_property
    def _inertia(self) -> Array:
        return np.array([link.inertia for link in self.body.links])

    def velocities(self, qvel: Array, link_pos: Array, link_quat_wxyz: Array) -> tuple[Array, Array]:
        """World velocities (..., L, 3) in m/s of the links' centres of mass, and angular ones (..., L, 3) in rad/s.

        qvel: (..., nv), with link_pos: (..., L, 3) and link_quat_wxyz: (..., L, 4) in the same frame.
        """
        linear, angular = np.empty(link_pos.shape), np.empty(link_pos.shape)
        starts = self.body.qvel_starts
        arms = rotate(link_quat_wxyz, self._coms)
        for index, link in enumerate(self.body.links):
            own = qvel[..., starts[index] : starts[index + 1]]
            spin = own * link.joint.axis if link.joint.kind == "hinge" else own[..., -3:]
            turning = rotate(link_quat_wxyz[..., index, :], spin)
            if link.parent < 0:
                angular[..., index, :], linear[..., index, :] = turning, own[..., :3]
                continue
            above = angular[..., link.parent, :]
            reach = link_pos[..., index, :] - link_pos[..., link.parent, :]
            angular[..., index, :] = above + turning
            linear[..., index, :] = linear[..., link.parent, :] + np.cross(above, reach)
        return linear + np.cross(angular, arms), angular

    def com_velocity(self, linear: Array) -> Array:
        """(..., 3) m/s, the velocity of the body's centre of mass, of those of its links (..., L, 3)."""
        return np.asarray(np.einsum("l,...lx->...x", self.mass / self.mass.sum(), linear))

    def kinetic_energy_j(self, linear: Array, angular: Array, link_quat_wxyz: Array) -> Array:
        """(...) joules: kinetic energy of the links relative to the body's centre of mass.

        linear: (..., L, 3), angular: (..., L, 3), link_quat_wxyz: (..., L, 4), as ``velocities`` gives and takes them.
        """
        apart = linear - self.com_velocity(linear)[..., None, :]
        own = np.einsum("...lyx,...ly->...lx", to_matrix(link_quat_wxyz), angular)
        moving = np.einsum("l,...lx,...lx->...", self.mass, apart, apart)
        spinning = np.einsum("...lx,lxy,...ly->...", own, self._inertia, own)
        return np.asarray(0.5 * (moving + spinning))
