# SPDX-License-Identifier: GPL-3.0-or-later
"""A body as arrays: made once when it is fitted, so that a redraw has only to multiply matrices."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...core.body import BodyModel
from ...core.geometry.quaternions import Array, to_matrix
from .draw_list import BALL, BOX, Solids
from .solid_mesh import Floats

# Light parts are blue, heavy ones orange; in between, yellowish green.
_LIGHT_TO_HEAVY = np.array([[0.16, 0.47, 0.90], [0.55, 0.78, 0.45], [0.96, 0.68, 0.20], [0.92, 0.33, 0.15]])
PLAIN = np.array([0.62, 0.72, 0.85])


class Shapes:
    """S shapes in the frames of L links, of one body or of several one after another.

    holders: (S,) the link of each shape. tints: (S, 3) by mass, among the parts of the same body. counts: of the links
    of each of C bodies. starts: (C,) where the links of each begin.
    """

    def __init__(
        self,
        holders: NDArray[np.intp],
        frames: Array,
        sizes: Floats,
        tints: Array,
        masses: Array,
        coms: Array,
        counts: tuple[int, ...],
    ) -> None:
        """Take frames (S, 4, 4) and sizes (S, 4) of the shapes; masses (L,) in kg and coms (L, 3) of the links."""
        self.holders, self.tints, self.masses, self.counts = holders, tints, masses, counts
        self.starts = np.cumsum((0, *counts[:-1]))
        self._frames, self._sizes, self._coms = frames, sizes, coms
        self._shares = (masses / np.repeat(np.add.reduceat(masses, self.starts), counts))[:, None]

    def solids(self, pos: Array, axes: Array, metres: float, colors: Floats) -> Solids:
        """The shapes where links stand at ``pos`` (L, 3) in Blender units with axes (L, 3, 3); colours (S, 4).

        metres: of a Blender unit.
        """
        links = np.zeros((len(pos), 4, 4))
        links[:, :3, :3], links[:, :3, 3], links[:, 3, 3] = axes / metres, pos, 1.0
        return Solids((links[self.holders] @ self._frames).astype(np.float32), self._sizes, colors)

    def coms(self, pos: Array, axes: Array, metres: float) -> Array:
        """(C, 3) the bodies' centres of mass in Blender units."""
        each = pos + (axes @ self._coms[:, :, None])[:, :, 0] / metres
        return np.add.reduceat(each * self._shares, self.starts)


class BodyParts(Shapes):
    """The shapes of one body. bones: of its links, in their order."""

    def __init__(self, body: BodyModel) -> None:
        self.body = body
        self.bones = tuple(link.bone for link in body.links)
        shapes = [(index, shape) for index, link in enumerate(body.links) for shape in link.shapes]
        holders = np.array([index for index, _ in shapes])
        frames = np.zeros((len(shapes), 4, 4))
        frames[:, :3, :3] = to_matrix(np.array([shape.quat_wxyz for _, shape in shapes]))
        frames[:, :3, 3] = [shape.pos for _, shape in shapes]
        frames[:, 3, 3] = 1.0
        sizes = [(*shape.size, BOX if shape.kind == "box" else BALL) for _, shape in shapes]
        masses, coms = np.array([link.mass for link in body.links]), np.array([link.com for link in body.links])
        tints = mass_tints(masses)[holders]
        super().__init__(holders, frames, np.array(sizes, dtype=np.float32), tints, masses, coms, (len(body.links),))

    @cached_property
    def link_of(self) -> dict[str, int]:
        """Bone -> link, as ``BodyModel.link_of`` says."""
        return {bone: index for index, link in enumerate(self.body.links) for bone in (link.bone, *link.merged)}

    @cached_property
    def left(self) -> Array:
        """(3,) level, from the body's right side to its left at rest; +X where it has no sides."""
        heads, _ = self.body.skeleton.rest_world()
        places = np.array([heads[self.body.skeleton.index(bone)] for bone in self.bones])
        sides = np.array([{"L": 1.0, "R": -1.0}.get(link.side, 0.0) for link in self.body.links])
        way = sides @ places * [1.0, 1.0, 0.0] if sides.any() and not sides.sum() else np.zeros(3)
        length = float(np.linalg.norm(way))
        return way / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])

    def com(self, pos: Array, axes: Array, metres: float) -> Array:
        """(3,) the centre of mass in Blender units."""
        return self.coms(pos, axes, metres)[0]

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


def join_bodies(bodies: tuple[Shapes, ...]) -> Shapes:
    """The shapes of several bodies at once, so that a redraw multiplies the matrices of all of them in one go."""
    starts = np.cumsum([0, *(len(each.masses) for each in bodies)])
    holders = np.concatenate([each.holders + start for each, start in zip(bodies, starts, strict=False)])
    arrays = (
        np.concatenate([getattr(each, name) for each in bodies])
        for name in ("_frames", "_sizes", "tints", "masses", "_coms")
    )
    return Shapes(holders, *arrays, sum((each.counts for each in bodies), ()))


def mass_tints(masses: Array) -> Array:
    """(L, 3) colours of masses (L,) in kg, from the lightest to the heaviest of them."""
    logs = np.log(masses)
    span = float(np.ptp(logs))
    at = (logs - logs.min()) / span * (len(_LIGHT_TO_HEAVY) - 1) if span > 1e-6 else np.zeros(len(masses))
    known = np.arange(len(_LIGHT_TO_HEAVY))
    return np.stack([np.interp(at, known, _LIGHT_TO_HEAVY[:, channel]) for channel in range(3)], axis=-1)
