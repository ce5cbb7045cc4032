# SPDX-License-Identifier: GPL-3.0-or-later
"""Inertia and weight of what some joints of a body carry, in one pose: for bodies of which only a part is simulated."""

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, rotate, to_matrix
from .model import BodyModel
from .poses import link_transforms
from .stances import Flags


def find_carried_links(body: BodyModel, chosen: Flags) -> Flags:
    """(L,) the links that chosen ones (L,) carry, themselves included."""
    carried = np.array(chosen, dtype=bool)
    for index, link in enumerate(body.links):
        carried[index] |= link.parent >= 0 and carried[link.parent]
    return carried


class CarriedInertia:
    """Rows of the mass matrix that belong to the chosen links' degrees of freedom (C of nv), and the weight on them.

    Only carried links count in these rows, so nothing else is computed.
    """

    def __init__(self, body: BodyModel, chosen: Flags) -> None:
        self.body = body
        self.links: NDArray[np.int64] = np.flatnonzero(find_carried_links(body, chosen))
        owners = np.repeat(np.arange(len(body.links)), [link.joint.dofs for link in body.links])
        self.dofs: NDArray[np.int64] = np.flatnonzero(chosen[owners])
        self._owners = owners
        above = np.eye(len(body.links), dtype=bool)
        for index, link in enumerate(body.links):
            if link.parent >= 0:
                above[index] |= above[link.parent]
        self._moves = above[self.links][:, owners]  # (carried links, nv)
        self._mass: Array = np.array([body.links[index].mass for index in self.links])
        self._com: Array = np.array([body.links[index].com for index in self.links])
        self._inertia: Array = np.array([body.links[index].inertia for index in self.links])

    def compute(self, qpos: Array, gravity: Array) -> tuple[Array, Array]:
        """(C, nv) rows of the mass matrix in a pose (nq,), and (C,) N·m by which gravity (3,) turns those joints."""
        pos, quat = link_transforms(self.body, qpos)
        spin = self._axes(quat)
        arm = pos[self.links] + rotate(quat[self.links], self._com)
        lever = arm[:, None] - pos[self._owners]
        moves = self._moves[..., None]
        linear = np.where(moves, np.cross(spin[None], lever), 0.0)  # (links, nv, 3)
        linear[:, :3] = np.eye(3)
        angular = np.where(moves, spin[None], 0.0)
        frames = to_matrix(quat[self.links])
        inertia = frames @ self._inertia @ np.swapaxes(frames, -1, -2)
        own_linear, own_angular = linear[:, self.dofs], angular[:, self.dofs]
        rows = np.einsum("l,lcx,lvx->cv", self._mass, own_linear, linear)
        rows += np.einsum("lcx,lxy,lvy->cv", own_angular, inertia, angular)
        return rows, np.einsum("l,lcx,x->c", self._mass, own_linear, gravity)

    def _axes(self, quat: Array) -> Array:
        """(nv, 3) the world's axes about which degrees of freedom turn; zero for the root's places."""
        axes = np.zeros((self.body.nv, 3))
        for index, link in enumerate(self.body.links):
            rows = slice(*self.body.qvel_starts[index : index + 2])
            if link.joint.kind == "hinge":
                axes[rows] = rotate(quat[index], link.joint.axis)
            else:
                axes[rows][-3:] = to_matrix(quat[index]).T
        return axes
