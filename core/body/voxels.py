# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass, centre of mass and inertia of overlapping shapes, by voxels shared out among the links."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array, conjugate, rotate, to_matrix
from .fit_shapes import shape_distance
from .model import Shape

DENSITY_KG_M3 = 985.0  # of a human body (DReCon, section 4.2)
_VOXELS = 2_000_000  # 10 mm for a person


@dataclass(frozen=True)
class VoxelMass:
    """What the voxels of a link weigh: kg, metres and kg·m² in the link's own frame."""

    mass: float
    com: Array
    inertia: Array


def weigh_links(
    links: Sequence[tuple[Sequence[Shape], Array, Array]], voxels: int = _VOXELS
) -> tuple[list[VoxelMass], float]:
    """Each link's solid and the volume of their union in m³.

    links: for each its shapes, and its frame at rest in the world as position (3,) and rotation (4,). A voxel that is
    inside several links belongs to the one whose surface it is deepest under. One that a surface goes through counts
    in part: soles and floors of boxes lie along the grid, and would gain or lose a whole layer by a hair's breadth.
    voxels: about as many as the box around all of them is cut into.
    """
    boxes = [_bounds(*link) for link in links]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    size = float(np.cbrt(np.prod(high - low) / voxels))
    counts = np.ceil((high - low) / size).astype(int)
    # The grid is centred, so that the two sides of a symmetric body are cut alike.
    axes = [(low[i] + high[i]) / 2 + (np.arange(counts[i]) - (counts[i] - 1) / 2) * size for i in range(3)]
    owner, depth = np.full(counts, -1), np.full(counts, -0.5 * size)
    for index, (link, (start, stop)) in enumerate(zip(links, boxes, strict=True)):
        within = [(axes[i] >= start[i] - size) & (axes[i] <= stop[i] + size) for i in range(3)]
        near = np.ix_(*(np.flatnonzero(each) for each in within))
        points = np.stack(np.meshgrid(*(axes[i][near[i].ravel()] for i in range(3)), indexing="ij"), axis=-1)
        own = _depth(*link, points.reshape(-1, 3)).reshape(points.shape[:3])
        deeper = own > depth[near]
        owner[near] = np.where(deeper, index, owner[near])
        depth[near] = np.where(deeper, own, depth[near])
    found, full = [], np.clip(0.5 + depth / size, 0.0, 1.0)
    for index, (_, pos, quat) in enumerate(links):
        cells = np.nonzero(owner == index)
        centres = np.stack([axes[i][cells[i]] for i in range(3)], axis=-1)
        found.append(_solid(centres, DENSITY_KG_M3 * size**3 * full[cells], size, pos, quat))
    return found, float(full.sum()) * size**3


def _bounds(shapes: Sequence[Shape], pos: Array, quat: Array) -> tuple[Array, Array]:
    """The corners (3,) of a box in the world around a link's shapes."""
    centres = np.array([pos + rotate(quat, shape.pos) for shape in shapes])
    reach = np.array([np.linalg.norm(shape.size) if shape.kind == "box" else shape.size.sum() for shape in shapes])
    return (centres - reach[:, None]).min(0), (centres + reach[:, None]).max(0)


def _depth(shapes: Sequence[Shape], pos: Array, quat: Array, points: Array) -> Array:
    """(N,) metres under the surface of the link's shapes; negative outside."""
    local = (points - pos) @ to_matrix(quat)
    return np.max([-shape_distance(shape, local) for shape in shapes], axis=0)


def _solid(centres: Array, masses: Array, size: float, pos: Array, quat: Array) -> VoxelMass:
    """Mass properties of voxels (N, 3) of masses (N,) in the frame of a link."""
    mass = float(masses.sum())
    if mass <= 0.0:
        return VoxelMass(0.0, np.zeros(3), np.zeros((3, 3)))
    com = masses @ centres / mass
    away = centres - com
    second = (away * masses[:, None]).T @ away
    # What is thinner than a voxel is taken to be as thick as one, or it would have no inertia.
    second += np.eye(3) * max(mass * size**2 / 12.0 - float(np.linalg.eigvalsh(second)[0]), 0.0)
    inertia = np.eye(3) * np.trace(second) - second
    turn = to_matrix(conjugate(quat))
    return VoxelMass(mass, rotate(conjugate(quat), com - pos), turn @ inertia @ turn.T)
