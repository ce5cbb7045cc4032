# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes in the world, in metres: modifiers, parents, constraints, instances, any scale."""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.errors import BadStage
from ...core.geometry.quaternions import Array
from ...core.sim.stage_parts import Mesh

MESHABLE = {"MESH", "CURVE", "SURFACE", "FONT", "META"}

_FLAT_M = 1e-4


@dataclass(frozen=True, eq=False)
class MeshSnapshot:
    """An object as Blender shows it at a frame, with everything that it makes instances of; nothing of Blender's in it.

    pieces: vertices (V, 3) and triangles (F, 3) with the matrix (4, 4) that puts them into the world, in Blender units.
    matrix: (4, 4) the object's own.
    """

    name: str
    pieces: tuple[tuple[Array, np.ndarray, Array], ...]
    matrix: Array

    @classmethod
    def at(cls, obj: bpy.types.Object) -> "MeshSnapshot":
        """The object at the current frame."""
        depsgraph = bpy.context.evaluated_depsgraph_get()
        matrix = np.array(obj.evaluated_get(depsgraph).matrix_world)
        return cls(obj.name, tuple(_pieces(obj, depsgraph)), matrix)

    def mesh(self, metres_per_unit: float) -> Mesh:
        """All of it in the world, in metres. For any thread."""
        vertices: list[Array] = []
        triangles: list[np.ndarray] = []
        count = 0
        for points, faces, matrix in self.pieces:
            if not (np.all(np.isfinite(points)) and np.all(np.isfinite(matrix))):
                raise BadStage(
                    f"'{self.name}' has vertices that are not numbers", "Look at its modifiers and its scale"
                )
            # A mirrored mesh has its faces turned inside out by its matrix.
            triangles.append(count + (faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0.0 else faces))
            vertices.append((points @ matrix[:3, :3].T + matrix[:3, 3]) * metres_per_unit)
            count += len(points)
        if not sum(len(faces) for faces in triangles):
            raise BadStage(f"'{self.name}' has no faces", "Choose a mesh with faces, or take it off the stage")
        return Mesh(np.concatenate(vertices), np.concatenate(triangles))

    def solid(self, metres_per_unit: float) -> Mesh:
        """The same; refuses what has no volume, naming it and the fix."""
        mesh = self.mesh(metres_per_unit)
        points = mesh.vertices[np.unique(mesh.triangles)]
        points = points - points.mean(axis=0)
        if np.ptp(points, axis=0).max() < _FLAT_M:
            raise BadStage(f"'{self.name}' has no size", "Scale it up, or take it off the stage")
        # The direction in which the points are spread least is the flat one's normal.
        normal = np.linalg.eigh(points.T @ points)[1][:, 0]
        if np.ptp(points @ normal) < _FLAT_M:
            fix = "Give it some thickness, such as a Solidify modifier"
            raise BadStage(f"'{self.name}' is flat: it has no volume", fix)
        return mesh


def _pieces(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[tuple[Array, np.ndarray, Array]]:
    """Vertices (V, 3), triangles (F, 3) and matrix (4, 4) of the object's own mesh and of its instances'."""
    if obj.mode == "EDIT":
        obj.update_from_editmode()
    evaluated = obj.evaluated_get(depsgraph)
    if evaluated.type in MESHABLE:
        yield *_arrays(evaluated), np.array(evaluated.matrix_world)
    if obj.instance_type == "NONE" and not any(modifier.type == "NODES" for modifier in obj.modifiers):
        return
    for instance in depsgraph.object_instances:
        if instance.is_instance and instance.parent and instance.parent.original == obj:
            matrix = np.array(instance.matrix_world)
            if instance.object.type in MESHABLE:
                yield *_arrays(instance.object), matrix


def _arrays(evaluated: bpy.types.Object) -> tuple[Array, np.ndarray]:
    data = evaluated.to_mesh()
    try:
        if data is None:
            return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32)
        data.calc_loop_triangles()
        points = np.empty(3 * len(data.vertices), dtype=np.float32)
        data.vertices.foreach_get("co", points)
        faces = np.empty(3 * len(data.loop_triangles), dtype=np.int32)
        data.loop_triangles.foreach_get("vertices", faces)
        return points.reshape(-1, 3).astype(float), faces.reshape(-1, 3)
    finally:
        evaluated.to_mesh_clear()
