# SPDX-License-Identifier: GPL-3.0-or-later
"""Which links of a character may never touch each other, even with self collision."""

import numpy as np

from ..body import BodyModel, Shape
from ..geometry.quaternions import Array, conjugate, rotate
from ..motion.skeleton import to_world

_STEPS = np.linspace(-1.0, 1.0, 7)


def excluded_pairs(body: BodyModel) -> list[tuple[int, int]]:
    """Pairs of links (lower index first) that must not collide with each other.

    Neighbours always; and links whose shapes overlap where all joints read zero: bodies fitted to a mesh overlap at
    hips and shoulders, and would be blown apart.
    """
    pos, quat = to_world(
        [link.parent for link in body.links],
        np.array([link.joint.pos for link in body.links]),
        np.array([link.joint.zero_quat_wxyz for link in body.links]),
    )
    surfaces = []
    for index, link in enumerate(body.links):
        points = [pos[index] + rotate(quat[index], _surface(shape)) for shape in link.shapes]
        surfaces.append(np.concatenate([np.zeros((0, 3)), *points]))

    def inside(index: int, points: Array) -> bool:
        local = rotate(conjugate(quat[index]), points - pos[index])
        return any(bool(np.any(_depth(shape, local) > 0.0)) for shape in body.links[index].shapes)

    return [
        (first, second)
        for second, link in enumerate(body.links)
        for first in range(second)
        if link.parent == first or inside(first, surfaces[second]) or inside(second, surfaces[first])
    ]


def _surface(shape: Shape) -> Array:
    """(S, 3) points all over the shape's surface and its middle line, in the link's frame."""
    grid = np.stack(np.meshgrid(_STEPS, _STEPS, _STEPS, indexing="ij"), -1).reshape(-1, 3)
    shell = grid[np.abs(grid).max(axis=-1) == 1.0]
    if shape.kind == "box":
        points = np.concatenate([shell, np.zeros((1, 3))]) * shape.size
    else:
        radius, half = shape.size[0], shape.size[1] if shape.kind == "capsule" else 0.0
        ball = np.concatenate([shell / np.linalg.norm(shell, axis=-1, keepdims=True), np.zeros((1, 3))]) * radius
        points = (ball[None] + np.array([0.0, 0.0, half]) * _STEPS[:, None, None]).reshape(-1, 3)
    return shape.pos + rotate(shape.quat_wxyz, points)


def _depth(shape: Shape, points: Array) -> Array:
    """(S,) metres that points (S, 3) of the link's frame lie inside the shape; negative outside."""
    local = rotate(conjugate(shape.quat_wxyz), points - shape.pos)
    if shape.kind == "box":
        return np.min(shape.size - np.abs(local), axis=-1)
    half = shape.size[1] if shape.kind == "capsule" else 0.0
    local[..., 2] -= np.clip(local[..., 2], -half, half)
    return shape.size[0] - np.linalg.norm(local, axis=-1)
