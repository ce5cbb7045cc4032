# SPDX-License-Identifier: GPL-3.0-or-later
"""A body as arrays: made once when it is fitted, so that a redraw has only to multiply matrices."""

from functools import cached_property

import numpy as np

from ...core.body import BodyModel
from ...core.geometry.quaternions import Array, to_matrix
from .scenery import BALL, BOX, Solids
from .solid import Floats

# Light parts are blue, heavy ones orange; in between, yellowish green.
_LIGHT_TO_HEAVY = np.array([[0.16, 0.47, 0.90], [0.55, 0.78, 0.45], [0.96, 0.68, 0.20], [0.92, 0.33, 0.15]])
PLAIN = np.array([0.62, 0.72, 0.85])


class BodyParts:
    """The shapes of a body in the frames of its links.

    bones: of the links, in their order. holders: (S,) the link of each shape. tints: (S, 3) by mass.
    """

    def __init__(self, body: BodyModel) -> None:
        self.body = body
        self.bones = tuple(link.bone for link in body.links)
        shapes = [(index, shape) for index, link in enumerate(body.links) for shape in link.shapes]
        self.holders = np.array([index for index, _ in shapes])
        self._frames = np.zeros((len(shapes), 4, 4))
        self._frames[:, :3, :3] = to_matrix(np.array([shape.quat_wxyz for _, shape in shapes]))
        self._frames[:, :3, 3] = [shape.pos for _, shape in shapes]
        self._frames[:, 3, 3] = 1.0
        self._sizes = np.array(
            [(*shape.size, BOX if shape.kind == "box" else BALL) for _, shape in shapes], dtype=np.float32
        )
        self.tints = mass_tints(np.array([link.mass for link in body.links]))[self.holders]

    @cached_property
    def masses(self) -> Array:
        """(L,) kg."""
        return np.array([link.mass for link in self.body.links])

    @cached_property
    def left(self) -> Array:
        """(3,) level, from the body's right side to its left at rest; +X where it has no sides."""
        heads, _ = self.body.skeleton.rest_world()
        places = np.array([heads[self.body.skeleton.index(bone)] for bone in self.bones])
        sides = np.array([{"L": 1.0, "R": -1.0}.get(link.side, 0.0) for link in self.body.links])
        way = sides @ places * [1.0, 1.0, 0.0] if sides.any() and not sides.sum() else np.zeros(3)
        length = float(np.linalg.norm(way))
        return way / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])

    @cached_property
    def _coms(self) -> Array:
        return np.array([link.com for link in self.body.links])

    def solids(self, pos: Array, axes: Array, metres: float, colors: Floats) -> Solids:
        """The shapes where links stand at ``pos`` (L, 3) in Blender units with axes (L, 3, 3); colours (S, 4).

        metres: of a Blender unit.
        """
        links = np.zeros((len(pos), 4, 4))
        links[:, :3, :3], links[:, :3, 3], links[:, 3, 3] = axes / metres, pos, 1.0
        places = np.ascontiguousarray(links[self.holders] @ self._frames, dtype=np.float32)
        return Solids(places, self._sizes, colors)

    def com(self, pos: Array, axes: Array, metres: float) -> Array:
        """(3,) the centre of mass in Blender units."""
        each = pos + np.einsum("lij,lj->li", axes, self._coms) / metres
        return self.masses @ each / self.masses.sum()

    def lowest(self, pos: Array, axes: Array, metres: float) -> Array:
        """(L, 3) the lowest point of each link's shapes in Blender units: where it would touch the ground."""
        turned = axes[self.holders] @ self._frames[:, :3, :3]
        centres = pos[self.holders] + np.einsum("sij,sj->si", axes[self.holders], self._frames[:, :3, 3]) / metres
        size = self._sizes.astype(float) / metres
        down = -np.sign(turned[:, 2, :])  # which way along each of the shape's axes leads down
        box = np.einsum("sij,sj->si", turned, down * size[:, :3])
        ball = turned[:, :, 2] * (down[:, 2] * size[:, 1])[:, None]
        ball[:, 2] -= size[:, 0]
        points = centres + np.where((self._sizes[:, 3] == BOX)[:, None], box, ball)
        found = np.array(pos)
        order = np.argsort(-points[:, 2])  # the lowest of a link comes last, and stays
        found[self.holders[order]] = points[order]
        return found


def mass_tints(masses: Array) -> Array:
    """(L, 3) colours of masses (L,) in kg, from the lightest to the heaviest of them."""
    logs = np.log(masses)
    span = float(np.ptp(logs))
    at = (logs - logs.min()) / span * (len(_LIGHT_TO_HEAVY) - 1) if span > 1e-6 else np.zeros(len(masses))
    known = np.arange(len(_LIGHT_TO_HEAVY))
    return np.stack([np.interp(at, known, _LIGHT_TO_HEAVY[:, channel]) for channel in range(3)], axis=-1)
