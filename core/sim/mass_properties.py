# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass properties of props and obstacles, worked out once so that the engines agree on them."""

from dataclasses import dataclass

import numpy as np

from ..body import Shape
from ..errors import BadMotion
from ..geometry.quaternions import Array, to_matrix
from .stage import Prop, Stage


@dataclass(frozen=True, eq=False)
class MassProperties:
    """mass: kg. com: (3,) metres. inertia: (3, 3) kg·m² about the com; both in the frame of what they belong to."""

    mass: float
    com: Array
    inertia: Array


def shape_mass_properties(shape: Shape, mass: float) -> MassProperties:
    """A shape of even density, in the frame that it is placed in."""
    radius, half = shape.size[:2]
    if shape.kind == "sphere":
        own = np.full(3, 0.4 * mass * radius**2)
    elif shape.kind == "box":
        x, y, z = shape.size**2
        own = np.array([y + z, x + z, x + y]) * mass / 3.0
    else:
        # A cylinder and two half balls, each with its share of the mass.
        cylinder, ball = 2.0 * half * np.pi * radius**2, 4.0 / 3.0 * np.pi * radius**3
        middle, ends = mass * cylinder / (cylinder + ball), mass * ball / (cylinder + ball)
        across = middle * (half**2 / 3.0 + radius**2 / 4.0)
        across += ends * (0.4 * radius**2 + half**2 + 0.75 * half * radius)
        own = np.array([across, across, (0.5 * middle + 0.4 * ends) * radius**2])
    turn = to_matrix(shape.quat_wxyz)
    return MassProperties(mass, shape.pos, (turn * own) @ turn.T)


def prop_mass_properties(prop: Prop) -> MassProperties:
    """The prop's mass properties in its own frame."""
    if prop.shape is not None:
        return shape_mass_properties(prop.shape, prop.mass)
    parts = [_hull_moments(prop.name, piece) for piece in prop.pieces]
    volume = sum(part[0] for part in parts)
    com = sum(part[1] for part in parts) / volume
    second = sum(part[2] for part in parts) / volume - np.outer(com, com)
    return MassProperties(prop.mass, np.asarray(com), prop.mass * (np.trace(second) * np.eye(3) - second))


def hull_corners(name: str, points: Array) -> Array:
    """(V, 3) the corners of the convex hull of ``points``; an error that names the thing if it has no volume."""
    points = np.asarray(points, dtype=float)
    return points[np.sort(_hull(name, points).vertices)]


def hull_planes(name: str, points: Array) -> Array:
    """(F, 4) the faces of the convex hull of ``points``: outward normals and offsets, negative inside."""
    planes: Array = np.unique(np.round(_hull(name, np.asarray(points, dtype=float)).equations, 12), axis=0)
    return planes


def check_solids(stage: Stage) -> None:
    """Raise for an obstacle or prop that is no solid, before an engine says so in words of its own."""
    for obstacle in stage.obstacles:
        for piece in obstacle.pieces:
            _hull(obstacle.name, np.asarray(piece, dtype=float))
    for prop in stage.props:
        prop_mass_properties(prop)
        if prop.shape is not None and not np.all(prop.shape.size[: 3 if prop.shape.kind == "box" else 1] > 0.0):
            raise BadMotion(f"'{prop.name}' has no volume", "Give it a size above zero")


def _hull_moments(name: str, points: Array) -> tuple[float, Array, Array]:
    """Volume, first moment (3,) and second moment (3, 3) about the origin of a convex hull, at density 1."""
    hull = _hull(name, np.asarray(points, dtype=float))
    inside = hull.points[hull.vertices].mean(axis=0)
    corners = hull.points[hull.simplices] - inside
    # Tetrahedra from a point inside to every face; their volumes are positive whichever way the face winds.
    volumes = np.abs(np.linalg.det(corners)) / 6.0
    total = corners.sum(axis=1)
    first = (volumes[:, None] * total / 4.0).sum(axis=0)
    pairs = np.einsum("fvi,fvj->fij", corners, corners) + np.einsum("fi,fj->fij", total, total)
    second = (volumes[:, None, None] * pairs / 20.0).sum(axis=0)
    volume = float(volumes.sum())
    crossed = np.outer(first, inside)
    return volume, first + volume * inside, second + crossed + crossed.T + volume * np.outer(inside, inside)


def _hull(name: str, points: Array):  # type: ignore[no-untyped-def]  # scipy's own class
    from scipy.spatial import ConvexHull, QhullError

    hint = "Give it some thickness, or take it off the stage"
    if points.ndim != 2 or points.shape[-1] != 3 or len(points) < 4 or not np.all(np.isfinite(points)):
        raise BadMotion(f"'{name}' has a piece that is no solid: {points.shape} corners", hint)
    try:
        hull = ConvexHull(points)
    except QhullError as error:
        raise BadMotion(f"'{name}' has a piece without volume", hint) from error
    if hull.volume <= 1e-9:
        raise BadMotion(f"'{name}' has a piece without volume", hint)
    return hull
