# SPDX-License-Identifier: GPL-3.0-or-later
"""Which part of a mesh is its outer surface, vertex by vertex: what lies under shells and clothes does not count."""

import hashlib

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ...core.geometry.quaternions import Array

# Looking out from a vertex in all these directions and along its normal, something else is in the way: it is inside.
_WAYS = [
    Vector((x, y, z)).normalized() for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) != (0, 0, 0)
]
_STEP = 1e-4  # of the whole extent: so far from its own faces the look begins
_MOST_VERTICES = 40_000  # of a heavy mesh, as many are looked at; more would not fit a body better

# What was found last, by what it was found for: a mesh is the same from job to job.
_MOST_KNOWN = 8
_known: dict[bytes, Array] = {}


def triangles_of(data: bpy.types.Mesh) -> NDArray[np.int32]:
    """(F, 3) vertices of the triangles that the mesh's faces are cut into."""
    data.calc_loop_triangles()
    corners = np.empty(3 * len(data.loop_triangles), dtype=np.int32)
    data.loop_triangles.foreach_get("vertices", corners)
    return corners.reshape(-1, 3)


def compute_outer_areas(points: Array, triangles: NDArray[np.int32]) -> Array:
    """(V,) the area that each vertex stands for, in square units of ``points`` (V, 3); 0 for what lies inside.

    triangles: (F, 3). Of a heavy mesh only some vertices stand for all. Nothing of Blender's data is touched, so that
    any thread may look; others have their turns meanwhile.
    """
    key = hashlib.sha256(np.ascontiguousarray(points).tobytes() + triangles.tobytes()).digest()
    if key not in _known:
        found = _looked_at(points, triangles)
        while len(_known) >= _MOST_KNOWN:
            _known.pop(next(iter(_known)), None)
        _known[key] = found
    return _known[key].copy()


def _looked_at(points: Array, triangles: NDArray[np.int32]) -> Array:
    corners = points[triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas, normals = np.zeros(len(points)), np.zeros((len(points), 3))
    for corner in range(3):
        np.add.at(areas, triangles[:, corner], np.linalg.norm(across, axis=-1) / 6.0)
        np.add.at(normals, triangles[:, corner], across)
    looked_at = np.flatnonzero(areas > 0.0)[:: -(-len(points) // _MOST_VERTICES)]
    tree = BVHTree.FromPolygons(points.tolist(), triangles.tolist())
    step = _STEP * float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    kept = np.zeros(len(points))
    for index in looked_at.tolist():
        if _outside(tree, Vector(points[index]), Vector(normals[index]), step):
            kept[index] = areas[index]
    return kept


def _outside(tree: BVHTree, point: Vector, normal: Vector, step: float) -> bool:
    """Whether anything can be seen of a vertex from far away."""
    return any(tree.ray_cast(point + step * way, way)[0] is None for way in (normal.normalized(), *_WAYS))
