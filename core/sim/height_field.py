# SPDX-License-Identifier: GPL-3.0-or-later
"""A height field from any meshes: the topmost surface seen from above, on a square grid."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import BadStage
from ..geometry.quaternions import Array
from .stage import Terrain
from .stage_parts import Finding, Mesh

MOST_SAMPLES = 512  # heights along the longer side
FINEST_M = 0.05  # a foot is longer
MARGIN_M = 5.0  # the ground goes on around the mesh, level with its rim, so that no character steps off at once
MOST_TRIANGLES = 8_000_000

_COARSE_M = 0.25  # spacing from which feet do not meet what the eye sees
_GAP_M = 0.05  # what stands this much above another surface hangs over it
_WORTH_SAYING = 0.001  # share of the surface
_AT_ONCE = 1_000_000  # rows or heights worked on at once: some 100 MB
_EDGE = 1e-6  # of a grid cell: a point this near to an edge is on it

Integers = NDArray[np.int64]


def build_height_field(meshes: Mapping[str, Mesh]) -> tuple[Terrain, tuple[Finding, ...]]:
    """The meshes, by name, as one terrain, with what the animator should know about it.

    Where there is no surface the nearest one goes on level.
    """
    for name, mesh in meshes.items():
        _require_faces(name, mesh)
    used = np.concatenate([mesh.vertices[np.unique(mesh.triangles)] for mesh in meshes.values()])
    low, high = used[:, :2].min(axis=0) - MARGIN_M, used[:, :2].max(axis=0) + MARGIN_M
    spacing = max(FINEST_M, float((high - low).max()) / (MOST_SAMPLES - 1))
    columns, rows = (int(count) for count in np.ceil((high - low) / spacing - _EDGE).astype(int) + 1)
    top, under, hangs = (
        np.full((rows, columns), -np.inf),
        np.full((rows, columns), np.inf),
        np.zeros((rows, columns), bool),
    )
    for name, mesh in meshes.items():
        layers = _layers((mesh.vertices - [*low, 0.0]) / [spacing, spacing, 1.0], mesh.triangles, rows, columns)
        if not np.isfinite(layers.top).any():
            hint = "Choose a mesh to stand on, in metres"
            raise BadStage(f"Terrain '{name}' has no surface that shows from above", hint)
        # Air below what is on top, be it between two meshes or within one.
        hangs |= layers.top - layers.lowest_up > _GAP_M
        hangs |= (layers.lowest > top + _GAP_M) & np.isfinite(top) & np.isfinite(layers.lowest)
        hangs |= (under > layers.top + _GAP_M) & np.isfinite(layers.top) & np.isfinite(under)
        under = np.where(layers.top > top, layers.lowest, under)
        top = np.maximum(top, layers.top)
    share = float(np.mean(hangs[np.isfinite(top)]))
    return Terrain(_filled(top), spacing, low), _findings("', '".join(meshes), spacing, share, high - low)


def _require_faces(name: str, mesh: Mesh) -> None:
    if not len(mesh.triangles):
        raise BadStage(f"Terrain '{name}' has no faces", "Choose a mesh with faces")
    if len(mesh.triangles) > MOST_TRIANGLES:
        raise BadStage(
            f"Terrain '{name}' has {len(mesh.triangles) / 1e6:.1f} million triangles",
            f"Give it a Decimate modifier: {MOST_TRIANGLES / 1e6:.0f} million is the most",
        )


def _findings(name: str, spacing: float, hanging: float, extent: Array) -> tuple[Finding, ...]:
    found = []
    if hanging > _WORTH_SAYING:
        message = f"Terrain '{name}' has air below {100.0 * hanging:.1f} % of its surface, where nobody can go"
        hint = "Make what hangs over an object of its own and mark it as an obstacle"
        found.append(Finding("terrain_overhang", message, hint))
    if spacing > _COARSE_M:
        message = f"Terrain '{name}' is {extent.max():.0f} m wide: its heights are {spacing:.2f} m apart"
        found.append(Finding("terrain_coarse", message, "Cut it down to where the character goes"))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Layers:
    """(rows, columns) of one mesh: its highest surface, its lowest, the lowest that faces up; infinite for none."""

    top: Array
    lowest: Array
    lowest_up: Array


def _layers(cells: Array, triangles: Integers, rows: int, columns: int) -> _Layers:
    """The surfaces of a mesh at whole x and y; cells: (V, 3) vertices with x and y in grid cells."""
    layers = _Layers(*(np.full(rows * columns, value) for value in (-np.inf, np.inf, np.inf)))
    x, y = (cells[:, axis][triangles] for axis in (0, 1))
    area: Array = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    # A mesh with all its normals turned over has an upper side too.
    up = area * np.sign(area.sum() or 1.0) > 0.0
    first, last = _whole_numbers(y.min(axis=1), y.max(axis=1))
    # Upright faces have no upper side; those that lie between two rows meet no grid point.
    counts = last - first + 1
    seen = (np.abs(area) > 1e-12) & (counts > 0)
    triangles, up, first, counts = triangles[seen], up[seen], first[seen], counts[seen]
    for part in _blocks(counts):
        of, offset = _repeated(counts[part])
        corners = cells[triangles[part]]
        row = first[part][of] + offset
        left, right = _whole_numbers(*_spans(corners, of, row.astype(float)))
        widths = np.maximum(right - left + 1, 0)
        for inner in _blocks(widths):
            span, step = _repeated(widths[inner])
            face = of[inner][span]
            height = _heights_at(corners, face, left[inner][span] + step, row[inner][span])
            place = row[inner][span] * columns + left[inner][span] + step
            upper = up[part][face]
            np.maximum.at(layers.top, place, height)
            np.minimum.at(layers.lowest, place, height)
            np.minimum.at(layers.lowest_up, place[upper], height[upper])
    return _Layers(*(array.reshape(rows, columns) for array in (layers.top, layers.lowest, layers.lowest_up)))


def _spans(corners: Array, of: Integers, row: Array) -> tuple[Array, Array]:
    """(N,) from where to where along x the triangles ``of`` (N,) cross the rows (N,)."""
    left, right = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    for edge in range(3):
        x0, y0, _ = corners[:, edge].T
        x1, y1, _ = corners[:, (edge + 1) % 3].T
        slanted = np.abs(y1 - y0) > 1e-12  # the ends of a level edge belong to the other two
        slope = np.where(slanted, (x1 - x0) / np.where(slanted, y1 - y0, 1.0), 0.0)
        low, high = np.minimum(y0, y1)[of], np.maximum(y0, y1)[of]
        meets = slanted[of] & (row >= low - _EDGE) & (row <= high + _EDGE)
        x = x0[of] + slope[of] * (np.clip(row, low, high) - y0[of])
        np.minimum(left, x, out=left, where=meets)
        np.maximum(right, x, out=right, where=meets)
    missed = left > right
    left[missed], right[missed] = 0.0, -1.0
    return left, right


def _heights_at(corners: Array, face: Integers, column: Integers, row: Integers) -> Array:
    """(N,) metres: the faces' planes at grid points, never beyond their corners."""
    a, b, c = (corners[:, corner] for corner in range(3))
    (bx, by, bz), (cx, cy, cz) = (b - a).T, (c - a).T
    area = bx * cy - cx * by
    area = np.where(np.abs(area) > 1e-12, area, 1.0)
    slope_x, slope_y = (bz * cy - cz * by) / area, (bx * cz - cx * bz) / area
    low, high = corners[..., 2].min(axis=1), corners[..., 2].max(axis=1)
    height = a[face, 2] + slope_x[face] * (column - a[face, 0]) + slope_y[face] * (row - a[face, 1])
    return np.clip(height, low[face], high[face])


def _filled(heights: Array) -> Array:
    """(R, C) with every -inf replaced by the height that is nearest along its row or column."""
    while not np.all(known := np.isfinite(heights)):
        along, far_along = _nearest(heights, known)
        across, far_across = (array.T for array in _nearest(heights.T, known.T))
        # Those with nothing in their row and column stay for the next turn, when there is.
        heights = np.where(far_along <= far_across, along, across)
    return heights


def _nearest(heights: Array, known: NDArray[np.bool_]) -> tuple[Array, Integers]:
    """(R, C) the nearest known height along each row, -inf if there is none, and how many cells off it is."""
    column = np.arange(heights.shape[1])
    far = 2 * len(column) + heights.shape[0]
    before = np.maximum.accumulate(np.where(known, column, -far), axis=1)
    after = np.minimum.accumulate(np.where(known, column, 2 * far)[:, ::-1], axis=1)[:, ::-1]
    chosen = np.where(column - before <= after - column, before, after)
    inside = (chosen >= 0) & (chosen < len(column))
    values = np.take_along_axis(heights, np.clip(chosen, 0, len(column) - 1), axis=1)
    return np.where(inside, values, -np.inf), np.where(inside, np.abs(chosen - column), far)


def _whole_numbers(low: Array, high: Array) -> tuple[Integers, Integers]:
    """First and last whole number between, ends included."""
    return np.ceil(low - _EDGE).astype(np.int64), np.floor(high + _EDGE).astype(np.int64)


def _repeated(counts: Integers) -> tuple[Integers, Integers]:
    """For counts (2, 0, 3): which item each one belongs to (0, 0, 2, 2, 2), and its number there (0, 1, 0, 1, 2)."""
    of = np.repeat(np.arange(len(counts)), counts)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)


def _blocks(counts: Integers) -> Iterator[slice]:
    """Slices whose counts add up to little enough to be worked on at once."""
    total, start = np.cumsum(counts), 0
    while start < len(counts):
        done = int(total[start - 1]) if start else 0
        stop = max(int(np.searchsorted(total, done + _AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start = stop
