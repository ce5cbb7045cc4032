# SPDX-License-Identifier: GPL-3.0-or-later
"""Solids with mass: capsules and boxes, put together and moved between frames."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_matrix, multiply, rotate, to_matrix
from .anatomy import normalize_vectors
from .model import Shape


@dataclass(frozen=True, eq=False)
class LinkSolid:
    """Shapes with the mass, centre of mass (3,) and inertia (3, 3) about it that they stand for, all in one frame."""

    shapes: tuple[Shape, ...]
    mass: float
    com: Array
    inertia: Array

    def seen_from(self, pos: Array, quat: Array) -> "LinkSolid":
        """The solid in the frame that stands at ``pos`` (3,) with rotation ``quat`` (4,) in its own."""
        inverse = conjugate(quat)
        turn = to_matrix(inverse)
        shapes = tuple(
            Shape(s.kind, s.size, rotate(inverse, s.pos - pos), multiply(inverse, s.quat_wxyz)) for s in self.shapes
        )
        return LinkSolid(shapes, self.mass, rotate(inverse, self.com - pos), turn @ self.inertia @ turn.T)


def combine_solids(solids: Sequence[LinkSolid]) -> LinkSolid:
    """Several solids as one, their inertias moved to the common centre of mass."""
    mass = sum(solid.mass for solid in solids)
    com = sum((solid.mass * solid.com for solid in solids), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for solid in solids:
        inertia += solid.inertia + parallel_axis_inertia(solid.mass, solid.com - com)
    return LinkSolid(tuple(shape for solid in solids for shape in solid.shapes), mass, com, inertia)


def parallel_axis_inertia(mass: float, offset: Array) -> Array:
    """(3, 3) inertia of a point mass at ``offset`` (3,): what a solid gains away from its centre of mass."""
    return mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))


def capsule(start: Array, end: Array, volume: float) -> Shape:
    """A capsule from ``start`` to ``end``, round ends included, of that volume; a sphere where it is too short."""
    length = float(np.linalg.norm(end - start))
    sphere = float(np.cbrt(volume * 3.0 / (4.0 * np.pi)))
    if length <= 2.0 * sphere:
        return Shape("sphere", np.array([sphere, 0.0, 0.0]), 0.5 * (start + end))
    radius = _capsule_radius(length, volume)
    size = np.array([radius, 0.5 * length - radius, 0.0])
    return Shape("capsule", size, 0.5 * (start + end), frame_along(end - start))


def _capsule_radius(length: float, volume: float) -> float:
    """Metres: radius of the capsule of that length, round ends included, and volume (no more than its sphere's)."""
    low, high = 0.0, 0.5 * length
    for _ in range(60):  # the volume grows with the radius: halve the bracket
        middle = 0.5 * (low + high)
        if np.pi * middle**2 * (length - 2.0 * middle / 3.0) < volume:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def shape_volume(shape: Shape) -> float:
    """Cubic metres."""
    x, y, z = (float(value) for value in shape.size)
    if shape.kind == "box":
        return 8.0 * x * y * z
    return float(np.pi * x**2 * (4.0 / 3.0 * x + (2.0 * y if shape.kind == "capsule" else 0.0)))


def fill_shape(shape: Shape, mass: float) -> LinkSolid:
    """The shape filled evenly with that mass."""
    x, y, z = (float(value) for value in shape.size)
    if shape.kind == "box":
        own = mass / 3.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    elif shape.kind == "sphere":
        own = np.full(3, 0.4 * mass * x * x)
    else:
        own = _capsule_inertia(x, y, mass)
    turn = to_matrix(shape.quat_wxyz)
    return LinkSolid((shape,), mass, shape.pos, turn @ np.diag(own) @ turn.T)


def _capsule_inertia(radius: float, half: float, mass: float) -> Array:
    tube, ball = np.pi * radius**2 * 2.0 * half, 4.0 / 3.0 * np.pi * radius**3
    tube_mass, ball_mass = mass * tube / (tube + ball), mass * ball / (tube + ball)
    along = 0.5 * tube_mass * radius**2 + 0.4 * ball_mass * radius**2
    across = tube_mass * (0.25 * radius**2 + half**2 / 3.0) + ball_mass * (
        0.4 * radius**2 + half**2 + 0.75 * half * radius
    )
    return np.array([across, across, along])


def frame_along(z_axis: Array, x_hint: Array | None = None) -> Array:
    """(4,) a rotation whose own Z points along ``z_axis`` and whose X lies as near to ``x_hint`` as it can."""
    z = normalize_vectors(z_axis)
    hint = np.eye(3)[int(np.argmin(np.abs(z)))] if x_hint is None else x_hint
    x = normalize_vectors(hint - hint @ z * z)
    return from_matrix(np.stack([x, np.cross(z, x), z], axis=-1))
