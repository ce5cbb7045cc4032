# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed smooth surfaces drawn through cross-sections, as plain arrays: what the mannequin is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.geometry.quaternions import Array

Faces = tuple[tuple[int, ...], ...]

BODY, JOINT = 0, 1  # material slots
_DOME_RINGS, _RIM_RINGS = 6, 3


@dataclass(frozen=True, eq=False)
class SkinnedPart:
    """A closed surface that one material covers.

    vertices: (V, 3) metres, in the armature's space at rest.
    faces: vertex indices of each face, counter-clockwise seen from outside.
    weights: (V, B) how much each bone moves each vertex; every row sums to 1.
    """

    vertices: Array
    faces: Faces
    material: int
    weights: Array

    def mirrored(self, swap: Sequence[int]) -> "SkinnedPart":
        """The same part on the other side; ``swap[b]`` is the bone that mirrors bone ``b``."""
        faces = tuple(face[::-1] for face in self.faces)
        return SkinnedPart(
            self.vertices * np.array([-1.0, 1.0, 1.0]), faces, self.material, self.weights[:, list(swap)]
        )


@dataclass(frozen=True)
class Axes:
    """Where a loft stands: it runs from ``origin`` along ``along``; sections lie in ``out`` and ``front``."""

    origin: Array
    along: Array
    out: Array
    front: Array


def loft(
    axes: Axes, sections: Sequence[Sequence[float]], *, sides: int, rings: int, rounding: tuple[float, float]
) -> tuple[Array, Faces]:
    """Vertices (V, 3) and faces of a smooth closed surface through superelliptic cross-sections.

    sections: rows of (along, out, front, half width, front radius, back radius[, squareness[, tilt]]) in metres;
        squareness 2 is an ellipse, more is boxier; tilt lets the outer side of a section lag behind.
    sides, rings: vertices around, and sections that the surface is resampled to.
    rounding: metres by which the first and last section's rims are rounded before they close; where that is more
        than half of the section, the end is a dome of that depth.
    """
    rows = _capped(_resampled(_rows(sections), rings), rounding)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    points = _points(axes, rows[:, None], angle[None, :])
    vertices = np.concatenate([points[0].mean(0)[None], points[1:-1].reshape(-1, 3), points[-1].mean(0)[None]])
    handed = float(np.dot(np.cross(axes.front, axes.out), axes.along))
    return vertices, _skin(sides, len(rows) - 2, handed < 0.0)


def inlay(
    axes: Axes,
    sections: Sequence[Sequence[float]],
    *,
    middle: float,
    height: float,
    angle: float,
    proud: float,
    grid: tuple[int, int],
) -> tuple[Array, Faces]:
    """Vertices (V, 3) and faces of a rounded plate on the front of a loft, standing ``proud`` metres out of it.

    middle, height: where its middle is along the loft, and half its height, in metres.
    angle: radians from the front to either end.
    grid: vertices around and up.
    """
    rows = _rows(sections)
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, grid[0]), np.linspace(-1.0, 1.0, grid[1]), indexing="ij")
    edge = np.maximum(np.abs(u), np.abs(v))
    # Rounder than the square grid, which is drawn in at the corners.
    lean = np.sqrt(np.maximum(1.0 - 0.45 * u**4 * v**2, 0.0))
    at = middle + height * v * np.sqrt(1.0 - 0.55 * u**4)
    sampled = np.stack([np.interp(at, rows[:, 0], rows[:, column]) for column in range(rows.shape[1])], -1)
    layers = []
    for depth in (proud, -proud):
        raised = sampled.copy()
        # Every edge dips below the surface, so that the plate's outline is a clean line on it.
        raised[..., 3:6] += np.where(edge < 1.0, depth, -0.5 * proud)[..., None]
        layers.append(_points(axes, raised, angle * u * lean))
    count = grid[0] * grid[1]
    faces: list[tuple[int, ...]] = []
    index = np.arange(count).reshape(grid)
    for i in range(grid[0] - 1):
        for j in range(grid[1] - 1):
            square = (index[i, j], index[i + 1, j], index[i + 1, j + 1], index[i, j + 1])
            faces.append(tuple(int(k) for k in square))
            faces.append(tuple(int(k) + count for k in square[::-1]))
    rim = np.flatnonzero(edge >= 1.0)
    return _joined(np.concatenate([layer.reshape(-1, 3) for layer in layers]), faces, rim, count)


def tube(points: Array, radii: Sequence[float], across: Array, *, sides: int, rings: int) -> tuple[Array, Faces]:
    """Vertices (V, 3) and faces of a round tube with domed ends through points (N, 3); ``across`` is never along it."""
    points = np.asarray(points, dtype=float)
    place = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    rows = _resampled(np.column_stack([place, points, np.asarray(radii, dtype=float)]), rings)
    centre, radius = rows[:, 1:4], rows[:, 4]
    forward = np.gradient(centre, axis=0)
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    # A dome at each end: two rings that draw in, and a pole.
    lean = np.radians([0.0, 35.0, 68.0])
    ends = [
        (centre[i] + sign * forward[i] * radius[i] * np.sin(a), radius[i] * np.cos(a), forward[i])
        for i, sign, turn in ((0, -1.0, lean[:0:-1]), (-1, 1.0, lean[1:]))
        for a in turn
    ]
    middle = list(zip(centre, radius, forward, strict=True))
    every = [*ends[:2], *middle, *ends[2:]]
    angle = 2.0 * np.pi * np.arange(sides) / sides
    circles = []
    for c, r, f in every:
        side = np.cross(f, across)
        side /= np.linalg.norm(side)
        circles.append(c + r * (np.cos(angle)[:, None] * np.cross(side, f) + np.sin(angle)[:, None] * side))
    poles = centre[0] - forward[0] * radius[0], centre[-1] + forward[-1] * radius[-1]
    vertices = np.concatenate([poles[0][None], np.concatenate(circles), poles[1][None]])
    return vertices, _skin(sides, len(every), False)


def ball(centre: Array, radii: Sequence[float], *, sides: int, rings: int) -> tuple[Array, Faces]:
    """Vertices (V, 3) and faces of an ellipsoid with radii along X, Y and Z."""
    lean = np.pi * np.arange(1, rings + 1) / (rings + 1)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    # Around from -Y, so that the two sides of X mirror each other exactly.
    unit = np.stack(
        np.broadcast_arrays(
            np.sin(lean)[:, None] * np.sin(angle),
            -np.sin(lean)[:, None] * np.cos(angle),
            -np.cos(lean)[:, None],
        ),
        -1,
    ).reshape(-1, 3)
    unit = np.concatenate([[[0.0, 0.0, -1.0]], unit, [[0.0, 0.0, 1.0]]])
    return np.asarray(centre) + unit * np.asarray(radii, dtype=float), _skin(sides, rings, False)


def smoothstep(value: Array, start: float, stop: float) -> Array:
    """0 before ``start``, 1 after ``stop``, smooth between."""
    t = np.clip((value - start) / (stop - start), 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t))


def _rows(sections: Sequence[Sequence[float]]) -> Array:
    """Rows (N, 8) with squareness and tilt filled in where they were left out."""
    return np.array([[*row, *(2.0, 0.0)[len(row) - 6 :]] for row in sections], dtype=float)


def _points(axes: Axes, rows: Array, angle: Array) -> Array:
    """(..., 3) points of sections (..., 8) at angles (...) from the front towards ``out``."""
    sine, cosine = np.sin(angle), np.cos(angle)
    power = 2.0 / rows[..., 6]
    x = rows[..., 3] * np.sign(sine) * np.abs(sine) ** power
    y = np.where(cosine > 0.0, rows[..., 4], rows[..., 5]) * np.sign(cosine) * np.abs(cosine) ** power
    return np.asarray(
        axes.origin
        + (rows[..., 0] + rows[..., 7] * x)[..., None] * axes.along
        + (rows[..., 1] + x)[..., None] * axes.out
        + (rows[..., 2] + y)[..., None] * axes.front
    )


def _joined(vertices: Array, faces: list[tuple[int, ...]], rim: Array, count: int) -> tuple[Array, Faces]:
    """A front and a back layer of ``count`` vertices each, sewn together at the ``rim`` of the front one."""
    target = np.arange(2 * count)
    target[rim + count] = rim
    used, renamed = np.unique(target, return_inverse=True)
    return vertices[used], tuple(tuple(int(renamed[k]) for k in face) for face in faces)


def _resampled(rows: Array, count: int) -> Array:
    """``count`` rows on a smooth curve through the rows; the first column is where each is."""
    place = rows[:, 0]
    slope = np.gradient(rows, place, axis=0)
    at = np.linspace(place[0], place[-1], count)
    low = np.clip(np.searchsorted(place, at, side="right") - 1, 0, len(place) - 2)
    width = (place[low + 1] - place[low])[:, None]
    t = (at - place[low])[:, None] / width
    a, b = rows[low], rows[low + 1]
    return np.asarray(
        (2 * t**3 - 3 * t**2 + 1) * a
        + (t**3 - 2 * t**2 + t) * width * slope[low]
        + (3 * t**2 - 2 * t**3) * b
        + (t**3 - t**2) * width * slope[low + 1]
    )


def _capped(rows: Array, rounding: tuple[float, float]) -> Array:
    """The rows with both ends closed, and a row of no size at either end."""
    return np.array([*_cap(rows[0], rounding[0], -1.0)[::-1], *rows, *_cap(rows[-1], rounding[1], 1.0)])


def _cap(row: Array, rounding: float, sign: float) -> list[Array]:
    """Rows that close an end: a dome as deep as ``rounding`` where that is large, else a rounded rim and a flat lid."""
    made = []
    dome = rounding > 0.5 * row[3:6].min()
    for angle in np.linspace(0.0, 0.5 * np.pi, _DOME_RINGS if dome else _RIM_RINGS)[1:]:
        ring = row.copy()
        ring[3:6] = row[3:6] * np.cos(angle) if dome else row[3:6] - rounding * (1.0 - np.cos(angle))
        ring[0] += sign * rounding * np.sin(angle)
        made.append(ring)
    if not dome:
        made.append(made[-1].copy())
    made[-1][3:6] = 0.0
    made[-1][7] = 0.0
    return made


def _skin(sides: int, rings: int, flip: bool) -> Faces:
    """Faces over a pole, ``rings`` rings of ``sides`` vertices, and a pole."""
    faces: list[tuple[int, ...]] = []
    last = 1 + sides * rings
    for k in range(sides):
        n = (k + 1) % sides
        faces.append((0, 1 + n, 1 + k))
        for ring in range(rings - 1):
            a, b = 1 + ring * sides, 1 + (ring + 1) * sides
            faces.append((a + k, a + n, b + n, b + k))
        top = 1 + (rings - 1) * sides
        faces.append((top + k, top + n, last))
    return tuple(face[::-1] for face in faces) if flip else tuple(faces)
