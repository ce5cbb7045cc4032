# SPDX-License-Identifier: GPL-3.0-or-later
"""Where all bones are at one moment, quickly: a take's exact way takes longer than a frame has."""

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...geometry.quaternions import Array, conjugate, multiply, rotate
from ...motion import Skeleton

Indices = NDArray[np.int64]


class BoneShower:
    """Bones of a skeleton on a simulated body: links as they are, merged bones with them, riders as in the source."""

    def __init__(self, body: BodyModel, skeleton: Skeleton) -> None:
        self._bones = np.array([skeleton.index(link.bone) for link in body.links])
        merged = [(skeleton.index(name), index) for index, link in enumerate(body.links) for name in link.merged]
        self._merged, self._holders = np.array(merged, dtype=np.int64).reshape(-1, 2).T
        self._parents = skeleton.parents
        depth = np.zeros(len(skeleton), dtype=np.int64)
        for bone, parent in enumerate(self._parents):
            depth[bone] = depth[parent] + 1 if parent >= 0 else 0
        simulated = np.zeros(len(skeleton), dtype=bool)
        simulated[self._bones] = simulated[self._merged] = True
        every = [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]
        self._levels: list[Indices] = every[1:]
        self._riders: list[Indices] = [some[~simulated[some]] for some in every[1:] if (~simulated[some]).any()]

    def place(self, link_pos: Array, link_quat: Array, local_pos: Array, local_quat: Array) -> tuple[Array, Array]:
        """(B, 3) and (B, 4) in the world, from links (L, 3) and (L, 4) and the source's local pose."""
        pos, quat = np.array(local_pos), np.array(local_quat)
        self._carry(self._levels, pos, quat, local_pos, local_quat)
        was_pos, was_quat = pos.copy(), quat.copy()
        pos[self._bones], quat[self._bones] = link_pos, link_quat
        if len(self._merged):
            bones, links = self._merged, self._bones[self._holders]
            change = multiply(quat[links], conjugate(was_quat[links]))
            pos[bones] = pos[links] + rotate(change, was_pos[bones] - was_pos[links])
            quat[bones] = multiply(change, was_quat[bones])
        self._carry(self._riders, pos, quat, local_pos, local_quat)
        return pos, quat

    def _carry(self, levels: list[Indices], pos: Array, quat: Array, local_pos: Array, local_quat: Array) -> None:
        """Place bones, level by level, on the bones that carry them."""
        for some in levels:
            above = self._parents[some]
            pos[some] = pos[above] + rotate(quat[above], local_pos[some])
            quat[some] = multiply(quat[above], local_quat[some])
