# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be drawn, as arrays that the graphics card can have as they are. Blender units, in the world."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ...core.geometry.quaternions import Array
from .solid_mesh import Floats

BALL, BOX, CONE = 0.0, 1.0, 2.0
"""Kinds of solids: a capsule is a ball with a straight part."""

Color = tuple[float, float, float, float]
Colored = tuple[Floats, Floats]
"""Points (K, 3) and the colour (K, 4) of each."""


@dataclass(frozen=True, eq=False)
class Solids:
    """N solids: places (N, 4, 4), sizes (N, 4) and colours (N, 4).

    A size is three numbers and the kind. Ball: radius, half of the straight part along Z. Box: half extents. Cone:
    radius of its base, half of its height along Z, where its tip is.
    """

    places: Floats
    sizes: Floats
    colors: Floats

    def __len__(self) -> int:
        return len(self.places)


@dataclass(eq=False)
class DrawList:
    """All of one redraw: solids, lines as pairs of points, and triangles, each point with its colour."""

    solids: list[Solids] = field(default_factory=list)
    lines: list[Colored] = field(default_factory=list)
    triangles: list[Colored] = field(default_factory=list)

    def add_lines(self, points: Array, color: Color) -> None:
        """points: (2K, 3), two for each line."""
        self.lines.append(colored(points, color))

    def add_path(self, points: Array, color: Color) -> None:
        """points: (..., K, 3), each K of them joined by lines."""
        self.add_lines(path(points), color)

    def add_fan(self, centre: Array, rim: Array, color: Color) -> None:
        """A filled fan from ``centre`` (3,) to the points of its ``rim`` (K, 3)."""
        self.triangles.append(colored(fan(centre, rim), color))

    def add_balls(self, centres: Array, radius: float | Array, color: Color, flat: float = 1.0) -> None:
        """Balls at (N, 3), of one radius or of (N,); ``flat`` squeezes them along the world's Z."""
        places = np.empty((len(centres), 4, 4), dtype=np.float32)
        places[:] = _squeezed(flat)
        places[:, :3, 3] = centres
        sizes = np.zeros((len(places), 4), dtype=np.float32)
        sizes[:, 0], sizes[:, 3] = radius, BALL
        self.solids.append(Solids(places, sizes, _rows(color, len(places))))

    def add_arrows(self, tips: Array, vectors: Array, thickness: float, color: Color) -> None:
        """Arrows that end at ``tips`` (N, 3) and have come by ``vectors`` (N, 3)."""
        lengths = np.linalg.norm(vectors, axis=-1)
        kept = lengths > 1e-9
        tips, lengths = np.asarray(tips)[kept], lengths[kept]
        ways = np.asarray(vectors)[kept] / lengths[:, None]
        frames = frames_along(ways)
        heads = np.minimum(5.0 * thickness, 0.5 * lengths)
        for kind, across, back, half in (
            (CONE, 2.5 * thickness, 0.5 * heads, 0.5 * heads),
            (BALL, thickness, 0.5 * (lengths + heads), np.maximum(0.5 * (lengths - heads) - thickness, 0.0)),
        ):
            places = frames.copy()
            places[:, :3, 3] = tips - ways * back[:, None]
            sizes = np.zeros((len(tips), 4), dtype=np.float32)
            sizes[:, 0], sizes[:, 1], sizes[:, 3] = across, half, kind
            self.solids.append(Solids(places, sizes, _rows(color, len(tips))))


def _rows(values: tuple[float, ...], count: int) -> Floats:
    """(count, K) the same values again and again."""
    rows = np.empty((count, len(values)), dtype=np.float32)
    rows[:] = values
    return rows


@lru_cache(maxsize=16)
def _squeezed(flat: float) -> Floats:
    """(4, 4) what leaves only so much of a height."""
    return np.diag((1.0, 1.0, flat, 1.0)).astype(np.float32)


def colored(points: Array, color: Color) -> Colored:
    """Points (K, 3), all of one colour."""
    return np.ascontiguousarray(points, dtype=np.float32), _rows(color, len(points))


def path(points: Array) -> Array:
    """(N, 3) the lines that join points (..., K, 3), each K of them by themselves."""
    return np.repeat(points, 2, axis=-2)[..., 1:-1, :].reshape(-1, 3)


def fan(centre: Array, rim: Array) -> Array:
    """(3K - 3, 3) the triangles from ``centre`` (3,) to the points of ``rim`` (K, 3)."""
    fields = np.empty((len(rim) - 1, 3, 3))
    fields[:, 0], fields[:, 1], fields[:, 2] = centre, rim[:-1], rim[1:]
    return fields.reshape(-1, 3)


def frames_along(ways: Array) -> Floats:
    """(N, 4, 4) rotations whose Z points along unit vectors (N, 3)."""
    hint = np.eye(3)[np.argmin(np.abs(ways), axis=-1)]
    x = np.cross(hint, ways)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    frames = np.zeros((len(ways), 4, 4), dtype=np.float32)
    frames[:, :3, 0], frames[:, :3, 1], frames[:, :3, 2], frames[:, 3, 3] = x, np.cross(ways, x), ways, 1.0
    return frames
