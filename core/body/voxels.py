# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass, centre of mass and inertia of overlapping shapes, by voxels shared out among the links."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array, conjugate, rotate, to_matrix
from .fit_shapes import shape_distance
from .model import Shape

DENSITY_KG_M3 = 985.0  # of a human body (DReCon, section 4.2)
_VOXELS = 400_000  # about as many as the bounding box of the whole body is cut into
_SLAB = 200_000


@dataclass(frozen=True)
class Solid:
    """What the voxels of a link weigh: kg, metres and kg·m² in the link's own frame."""

    mass: float
    com: Array
    inertia: Array


def solids_of(links: Sequence[tuple[Sequence[Shape], Array, Array]]) -> tuple[list[Solid], float]:
    """Each link's solid and the volume of their union in m³.

    links: for each its shapes, and its frame at rest in the world as position (3,) and rotation (4,). A voxel that is
    inside several links belongs to the one whose surface it is deepest under.
    """
    centres, size = _grid(links)
    owner = np.full(len(centres), -1)
    for begin in range(0, len(centres), _SLAB):
        slab = slice(begin, begin + _SLAB)
        depth = np.stack([_depth(*link, centres[slab]) for link in links])
        deepest = np.argmax(depth, axis=0)
        owner[slab] = np.where(depth.max(0) > 0.0, deepest, -1)
    voxel_mass = DENSITY_KG_M3 * size**3
    found = [_solid(centres[owner == i], voxel_mass, size, pos, quat) for i, (_, pos, quat) in enumerate(links)]
    return found, float(np.sum(owner >= 0)) * size**3


def _grid(links: Sequence[tuple[Sequence[Shape], Array, Array]]) -> tuple[Array, float]:
    """Voxel centres (N, 3) around all shapes and the voxels' edge in metres."""
    lows, highs = [], []
    for shapes, pos, quat in links:
        for shape in shapes:
            centre = pos + rotate(quat, shape.pos)
            reach = float(np.linalg.norm(shape.size)) if shape.kind == "box" else float(shape.size.sum())
            lows.append(centre - reach)
            highs.append(centre + reach)
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    size = float(np.cbrt(np.prod(high - low) / _VOXELS))
    axes = [np.arange(low[i] + size / 2, high[i], size) for i in range(3)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3), size


def _depth(shapes: Sequence[Shape], pos: Array, quat: Array, points: Array) -> Array:
    """(N,) metres under the surface of the link's shapes; negative outside."""
    local = rotate(conjugate(quat), points - pos)
    return np.max([-shape_distance(shape, local) for shape in shapes], axis=0)


def _solid(centres: Array, voxel_mass: float, size: float, pos: Array, quat: Array) -> Solid:
    """Mass properties of voxels (N, 3) in the frame of a link."""
    if len(centres) == 0:
        return Solid(0.0, np.zeros(3), np.zeros((3, 3)))
    mass = voxel_mass * len(centres)
    com = centres.mean(0)
    away = centres - com
    second = voxel_mass * (away.T @ away) + np.eye(3) * mass * size**2 / 12.0  # each voxel is a cube, not a point
    inertia = np.eye(3) * np.trace(second) - second
    turn = to_matrix(conjugate(quat))
    return Solid(mass, rotate(conjugate(quat), com - pos), turn @ inertia @ turn.T)
