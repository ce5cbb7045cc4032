# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of a model's plain shapes, for what is seen of them."""

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .compiled_model import CompiledGeom

_AROUND, _RINGS = 20, 12
_BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def geom_surface(geom: CompiledGeom) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (V, 3) in the shape's own frame and faces (F, 3)."""
    if geom.kind == "mesh":
        return geom.vertices, geom.faces
    if geom.kind == "box":
        return _BOX * geom.size, _BOX_FACES
    angles = np.linspace(0.0, np.pi, _RINGS + 1)
    radius, height = np.sin(angles), np.cos(angles)
    if geom.kind == "cylinder":
        radius, height = np.array([0.0, 1.0, 1.0, 0.0]), np.array([1.0, 1.0, -1.0, -1.0])
        size = np.array([geom.size[0], geom.size[0], geom.size[1]])
        return _turned_profile(radius, height, size)
    if geom.kind == "ellipsoid":
        return _turned_profile(radius, height, geom.size)
    vertices, faces = _turned_profile(radius, height, np.full(3, geom.size[0]))
    if geom.kind == "capsule":
        vertices[:, 2] += np.where(vertices[:, 2] >= 0.0, geom.size[1], -geom.size[1])
    return vertices, faces


def _turned_profile(radius: Array, height: Array, size: Array) -> tuple[Array, NDArray[np.int64]]:
    """A profile (R,) turned about Z, from the top down."""
    turn = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    level = np.stack([np.cos(turn), np.sin(turn)], axis=-1)[None] * radius[:, None, None]
    rings = np.concatenate([level, np.repeat(height[:, None, None], _AROUND, axis=1)], axis=-1)  # (R, A, 3)
    place = np.arange(len(radius) * _AROUND).reshape(len(radius), _AROUND)
    here, there = place[:-1], np.roll(place[:-1], -1, axis=1)
    below, across = place[1:], np.roll(place[1:], -1, axis=1)
    faces = np.concatenate([np.stack([here, below, across], -1), np.stack([here, across, there], -1)]).reshape(-1, 3)
    return rings.reshape(-1, 3) * size, faces
