# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes that an armature moves, at rest, for a body to be fitted to."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..core.body.mesh import SkinnedMesh
from ..core.errors import RigError
from ..core.geometry.quaternions import Array, from_matrix, rotate
from ..core.motion import Skeleton
from .rig_reader import rotation_of


def read_mesh(obj: bpy.types.Object, skeleton: Skeleton, metres_per_unit: float = 1.0) -> SkinnedMesh | None:
    """Every vertex that the armature's bones move, in the frame of ``skeleton.rest_world``; None without a mesh.

    Modifiers are applied as they show at rest (mirror, subdivision), so that what is fitted is what is seen.
    """
    meshes = [other for other in bpy.context.scene.objects if other.type == "MESH" and _bound(other, obj)]
    if not meshes:
        return None
    for mesh in meshes:
        if mesh.matrix_world.determinant() < 0:
            raise RigError(
                f"Mesh '{mesh.name}' is mirrored by a negative scale", "Apply it with Object > Apply > Scale (Ctrl+A)"
            )
    vertices, weights = [np.zeros((0, 3))], [np.zeros((0, len(skeleton)), dtype=np.float32)]
    with _at_rest(obj):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        to_armature = np.linalg.inv(np.array(obj.evaluated_get(depsgraph).matrix_world))
        for mesh in meshes:
            points, shares = _read(mesh.evaluated_get(depsgraph), mesh, skeleton)
            vertices.append(points @ to_armature[:3, :3].T + to_armature[:3, 3])
            weights.append(shares)
    return SkinnedMesh(_to_rest(np.concatenate(vertices), obj, metres_per_unit), np.concatenate(weights))


def _bound(mesh: bpy.types.Object, obj: bpy.types.Object) -> bool:
    by_modifier = any(m.type == "ARMATURE" and m.object == obj and m.show_viewport for m in mesh.modifiers)
    return by_modifier or (mesh.parent == obj and mesh.parent_type in {"BONE", "ARMATURE"})


def _read(evaluated: bpy.types.Object, mesh: bpy.types.Object, skeleton: Skeleton) -> tuple[Array, np.ndarray]:
    """World vertices (V, 3) in Blender units and bone weights (V, B) of one evaluated mesh."""
    data = evaluated.to_mesh()
    try:
        points = np.empty(3 * len(data.vertices), dtype=np.float32)
        data.vertices.foreach_get("co", points)
        matrix = np.array(evaluated.matrix_world)
        world = points.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]
        weights = np.zeros((len(world), len(skeleton)), dtype=np.float32)
        index = {name: i for i, name in enumerate(skeleton.names)}
        if mesh.parent_type == "BONE" and mesh.parent_bone in index:
            weights[:, index[mesh.parent_bone]] = 1.0
            return world, weights
        bone_of_group = {group.index: index[group.name] for group in mesh.vertex_groups if group.name in index}
        for i, vertex in enumerate(data.vertices):
            for element in vertex.groups:
                bone = bone_of_group.get(element.group)
                if bone is not None:
                    weights[i, bone] += element.weight
        return world, weights
    finally:
        evaluated.to_mesh_clear()


def _to_rest(points: Array, obj: bpy.types.Object, metres_per_unit: float) -> Array:
    """From armature space to the frame in which the reader puts the rest skeleton."""
    matrix = np.array(obj.matrix_world)
    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    return rotate(from_matrix(rotation_of(matrix[:3, :3])), points * scale * metres_per_unit)


@contextmanager
def _at_rest(obj: bpy.types.Object) -> Iterator[None]:
    """The armature in its rest position for a while."""
    before = obj.data.pose_position
    try:
        obj.data.pose_position = "REST"
        bpy.context.view_layer.update()
        yield
    finally:
        obj.data.pose_position = before
        bpy.context.view_layer.update()
