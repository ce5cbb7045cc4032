# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be stood on: the ground or terrain of a stage, and the upper sides of its obstacles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array
from .assembly import ABYSS_M
from .mass_properties import hull_planes
from .stage import Stage, Terrain

_UPRIGHT = 1e-6  # a face whose normal rises less than this has no upper side
_AT_ONCE = 2_000_000  # points times faces


def build_surface(stage: Stage) -> "Surface | None":
    """What can be stood on; None for a flat floor at height 0 and nothing else, or for no ground at all."""
    pieces = [_Piece.of(obstacle.name, np.asarray(piece)) for obstacle in stage.obstacles for piece in obstacle.pieces]
    terrain = stage.terrain
    if not pieces and (terrain is None or _is_abyss(terrain)):
        return None
    return Surface(terrain, tuple(pieces))


def terrain_height(terrain: Terrain, xy: Array) -> Array:
    """(N,) metres: the terrain at places (N, 2), bilinear between its heights; beyond its rim the rim goes on.

    The engines make two triangles of every four heights, but not along the same diagonal; this is halfway between.
    """
    rows, columns = terrain.heights.shape
    place = (np.asarray(xy, dtype=float) - terrain.origin[:2]) / terrain.spacing
    x, y = np.clip(place[:, 0], 0.0, columns - 1.0), np.clip(place[:, 1], 0.0, rows - 1.0)
    column, row = np.minimum(x.astype(int), columns - 2), np.minimum(y.astype(int), rows - 2)
    x, y = x - column, y - row
    near = terrain.heights[row, column] * (1.0 - x) + terrain.heights[row, column + 1] * x
    far = terrain.heights[row + 1, column] * (1.0 - x) + terrain.heights[row + 1, column + 1] * x
    return np.asarray(near * (1.0 - y) + far * y)


@dataclass(frozen=True, eq=False)
class _Piece:
    """A convex piece: planes (F, 4) whose ``normal · p + offset`` is negative inside, and its extent from above."""

    planes: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, name: str, corners: Array) -> "_Piece":
        return cls(hull_planes(name, corners), corners[:, :2].min(axis=0), corners[:, :2].max(axis=0))

    def tops(self, xy: Array) -> Array:
        """(N,) metres: the upper side at places (N, 2), -inf beside it."""
        flat = self.planes[:, :2] @ xy.T + self.planes[:, 3:]
        rise = self.planes[:, 2:3]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = -flat / rise
        top = np.where(rise > _UPRIGHT, crossing, np.inf).min(axis=0)
        bottom = np.where(rise < -_UPRIGHT, crossing, -np.inf).max(axis=0)
        beside = np.any((np.abs(rise) <= _UPRIGHT) & (flat > 1e-9), axis=0)
        return np.where(beside | (top < bottom - 1e-9), -np.inf, top)


@dataclass(frozen=True, eq=False)
class Surface:
    """The layers of a stage that can be stood on; ``core.body.footing`` stands clips on them."""

    terrain: Terrain | None
    pieces: Sequence[_Piece]

    def layers(self, xy: Array) -> tuple[Array, Array]:
        """At places (N, 2): the ground (N,), -inf where there is none, and the tops (N, K) of what stands on it."""
        xy = np.asarray(xy, dtype=float)
        if self.terrain is None:
            ground = np.zeros(len(xy))
        elif _is_abyss(self.terrain):
            ground = np.full(len(xy), -np.inf)
        else:
            ground = terrain_height(self.terrain, xy)
        found = np.zeros(len(xy), dtype=int)
        tops: list[Array] = []
        for piece in self.pieces:
            over = np.flatnonzero(np.all((xy >= piece.low) & (xy <= piece.high), axis=1))
            for start in range(0, len(over), max(_AT_ONCE // len(piece.planes), 1)):
                some = over[start : start + max(_AT_ONCE // len(piece.planes), 1)]
                top = piece.tops(xy[some])
                some, top = some[np.isfinite(top)], top[np.isfinite(top)]
                while len(some) and found[some].max() >= len(tops):
                    tops.append(np.full(len(xy), -np.inf))
                for layer in np.unique(found[some]):
                    here = found[some] == layer
                    tops[layer][some[here]] = top[here]
                found[some] += 1
        return ground, np.stack(tops, axis=1) if tops else np.empty((len(xy), 0))


def _is_abyss(terrain: Terrain) -> bool:
    return bool(np.all(terrain.heights <= ABYSS_M))
