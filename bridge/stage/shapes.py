# SPDX-License-Identifier: GPL-3.0-or-later
"""Simple shapes for props: what a mesh is, or is to be taken for."""

import numpy as np

from ...core.body import Shape
from ...core.geometry.quaternions import Array
from ...core.sim.stage_parts import Mesh

_ROUND = 0.02  # how much a sphere's radius may vary
_FACETED = 0.93  # of the radius: faces nearer to the middle belong to no sphere
_SQUARE = 1e-3  # of the side: how far off a box's corners may be

# Turns a capsule's own Z to X, Y and Z.
_ALONG = np.array([[np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0], [np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0], [1.0, 0, 0, 0]])


def fit_shape(kind: str, mesh: Mesh) -> Shape | None:
    """The shape that stands for a mesh in its own frame, by the name that ``SHAPES`` has; None for convex pieces."""
    points = mesh.vertices[np.unique(mesh.triangles)]
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    if kind == "AUTO":
        kind = "SPHERE" if _is_sphere(mesh, points - middle) else "BOX" if _is_box(points - middle, half) else "CONVEX"
    if kind == "SPHERE":
        return Shape("sphere", np.array([half.max(), 0.0, 0.0]), middle)
    if kind == "BOX":
        return Shape("box", half, middle)
    if kind == "CAPSULE":
        axis = int(np.argmax(half))
        radius = float(np.linalg.norm(np.delete(points - middle, axis, axis=1), axis=1).max())
        return Shape("capsule", np.array([radius, max(half[axis] - radius, 0.0), 0.0]), middle, _ALONG[axis])
    return None


def _is_sphere(mesh: Mesh, points: Array) -> bool:
    radii = np.linalg.norm(points, axis=1)
    if len(points) < 12 or np.ptp(radii) > _ROUND * radii.max():
        return False
    corners = mesh.vertices[mesh.triangles]
    middle = 0.5 * (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1)))
    # The corners of cubes and cylinders are all as far from the middle, too; their faces are not.
    return bool(np.linalg.norm(corners.mean(axis=1) - middle, axis=1).min() > _FACETED * radii.max())


def _is_box(points: Array, half: Array) -> bool:
    at_corners = np.all(np.abs(np.abs(points) - half) < _SQUARE * half.max(), axis=1)
    return bool(at_corners.all()) and len(np.unique(points > 0.0, axis=0)) == 8
