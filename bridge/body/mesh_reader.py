# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes that an armature moves, at rest, for a body to be fitted to."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.body.mesh import SkinnedMesh
from ...core.errors import RigError
from ...core.geometry.quaternions import Array, from_matrix, rotate
from ...core.motion import Skeleton
from ..rig.rig_reader import rotation_of
from ..rig.setting_aside import show_set_aside
from ..scene.sliced_reading import DatablockRef, ReadSteps, read_in_slices
from ..scene.time_slicing import SLICE_S, Slices, run_all_slices
from .mesh_surface import compute_outer_areas, triangles_of
from .mesh_weights import VertexWeights

_LARGEST = 8.0  # of the skeleton: what is larger is not worn by it, or has a scale that it should not have
_APPLY_SCALE = "Apply it with Object > Apply > Scale (Ctrl+A)"


@dataclass(frozen=True, eq=False)
class _Part:
    """One mesh at rest: its name, vertices (V, 3) as in ``SkinnedMesh``, triangles (F, 3), and who moves them."""

    name: str
    vertices: Array
    triangles: NDArray[np.int32]
    shares: VertexWeights


@dataclass(frozen=True, eq=False)
class MeshParts:
    """Meshes as they were read, with nothing of the scene's in it: the rest of the work can be done on any thread."""

    parts: tuple[_Part, ...]
    armature: str
    skeleton: Skeleton

    def skinned(self) -> SkinnedMesh:
        """All of them as one, with the areas of what can be seen from outside."""
        weights = [part.shares.weights(len(self.skeleton)) for part in self.parts]
        _require_usable(self.parts, weights, self.armature, self.skeleton)
        starts = np.cumsum([0, *(len(part.vertices) for part in self.parts)])
        vertices = np.concatenate([part.vertices for part in self.parts])
        triangles = np.concatenate([part.triangles + start for part, start in zip(self.parts, starts, strict=False)])
        return SkinnedMesh(vertices, np.concatenate(weights), compute_outer_areas(vertices, triangles))


def read_mesh(obj: bpy.types.Object, skeleton: Skeleton, metres_per_unit: float = 1.0) -> SkinnedMesh | None:
    """Every vertex that the armature's bones move, in the frame of ``skeleton.rest_world``; None without a mesh."""
    found = run_all_slices(read_mesh_parts_in_slices(obj, skeleton, metres_per_unit, slice_s=float("inf")))
    return found.skinned() if found is not None else None


def read_mesh_parts_in_slices(
    obj: bpy.types.Object,
    skeleton: Skeleton,
    metres_per_unit: float = 1.0,
    *,
    shown: Callable[[], AbstractContextManager[Any]] = nullcontext,
    slice_s: float = SLICE_S,
) -> Slices[MeshParts | None]:
    """What only Blender's own thread can read of the meshes, in slices; None without any.

    Modifiers are applied as they show at rest (mirror, subdivision), so that what is fitted is what is seen.
    shown: what else the scene is to be like meanwhile.
    """
    armature, name = DatablockRef("objects", obj), obj.name
    meshes = [other for other in bpy.context.scene.objects if other.type == "MESH" and _bound(other, obj)]
    if not meshes:
        return None

    @contextmanager
    def at_rest() -> Iterator[None]:
        everything = [armature.resolve(), *(one.resolve() for one in read)]
        with shown(), show_set_aside(everything), _at_rest(armature.resolve()):
            yield

    read = [DatablockRef("objects", mesh) for mesh in meshes]
    reads = _parts(armature, read, skeleton, metres_per_unit)
    parts = yield from read_in_slices(reads, at_rest, slice_s)
    return MeshParts(tuple(parts), name, skeleton)


def _parts(
    armature: DatablockRef, meshes: list[DatablockRef], skeleton: Skeleton, metres_per_unit: float
) -> ReadSteps[list[_Part]]:
    parts = []
    _require_not_mirrored("Armature", armature.resolve())
    for one in meshes:
        obj, mesh = armature.resolve(), one.resolve()
        _require_not_mirrored("Mesh", mesh)
        parts.append(_read(mesh, bpy.context.evaluated_depsgraph_get(), obj, skeleton, metres_per_unit))
        yield
    return parts


def _require_not_mirrored(kind: str, obj: bpy.types.Object) -> None:
    if obj.matrix_world.determinant() < 0:
        raise RigError(f"{kind} '{obj.name}' is mirrored by a negative scale", _APPLY_SCALE)


def _bound(mesh: bpy.types.Object, obj: bpy.types.Object) -> bool:
    """Whether the armature's bones move the mesh: by its vertices, or as a whole.

    What is held and marked for the stage, such as a sword as a prop, is a thing of its own.
    """
    marked = hasattr(mesh, "sinew") and mesh.sinew.role != "NONE"
    return _skinned(mesh, obj) or (bool(_holder(mesh, obj)) and not marked)


def _skinned(mesh: bpy.types.Object, obj: bpy.types.Object) -> bool:
    """Whether the armature moves the mesh vertex by vertex."""
    by_modifier = any(m.type == "ARMATURE" and m.object == obj and m.show_viewport for m in mesh.modifiers)
    return by_modifier or (mesh.parent == obj and mesh.parent_type == "ARMATURE")


def _holder(mesh: bpy.types.Object, obj: bpy.types.Object) -> str:
    """The bone that the mesh, or what it is parented to, hangs on as a whole; '' for none."""
    above = mesh
    while above is not None:
        if above.parent == obj:
            return above.parent_bone if above.parent_type == "BONE" else ""
        above = above.parent
    return ""


def _require_usable(
    parts: tuple[_Part, ...], weights: list[NDArray[np.float32]], armature: str, skeleton: Skeleton
) -> None:
    """Refuse meshes that no body could be fitted to, naming one and the fix."""
    name = parts[0].name
    if not any(len(part.vertices) for part in parts):
        raise RigError(f"Mesh '{name}' has no vertices", "Delete it, or look at its modifiers")
    if not any(each.any() for each in weights):
        raise RigError(
            f"Mesh '{name}' has no weights for the bones of '{armature}'",
            "Parent it to the armature again with Ctrl+P > With Automatic Weights",
        )
    heads, quats = skeleton.rest_world()
    ends = np.concatenate([heads, heads + rotate(quats, skeleton.lengths[:, None] * np.array([0.0, 1.0, 0.0]))])
    size = max(float(np.ptp(ends, axis=0).max()), 1e-9)
    for part in parts:
        ratio = float(np.ptp(part.vertices, axis=0).max()) / size if len(part.vertices) else 0.0
        if ratio > _LARGEST:
            raise RigError(f"Mesh '{part.name}' is {ratio:.3g} times as large as armature '{armature}'", _APPLY_SCALE)


def _read(
    mesh: bpy.types.Object,
    depsgraph: bpy.types.Depsgraph,
    obj: bpy.types.Object,
    skeleton: Skeleton,
    metres_per_unit: float,
) -> _Part:
    """One mesh as Blender shows it now."""
    evaluated = mesh.evaluated_get(depsgraph)
    to_armature = np.linalg.inv(np.array(obj.evaluated_get(depsgraph).matrix_world)) @ np.array(evaluated.matrix_world)
    data = evaluated.to_mesh()
    try:
        points = np.empty(3 * len(data.vertices), dtype=np.float32)
        data.vertices.foreach_get("co", points)
        local = points.reshape(-1, 3).astype(float) @ to_armature[:3, :3].T + to_armature[:3, 3]
        shares = _shares(data, mesh, "" if _skinned(mesh, obj) else _holder(mesh, obj), skeleton)
        return _Part(mesh.name, _to_rest(local, obj, metres_per_unit), triangles_of(data), shares)
    finally:
        evaluated.to_mesh_clear()


def _shares(data: bpy.types.Mesh, mesh: bpy.types.Object, holder: str, skeleton: Skeleton) -> VertexWeights:
    """How much each bone has of each vertex; all of it where the whole mesh hangs on one bone."""
    index = {name: i for i, name in enumerate(skeleton.names)}
    if holder in index:
        return VertexWeights.all_to(index[holder], len(data.vertices))
    return VertexWeights.of(
        data, {group.index: index[group.name] for group in mesh.vertex_groups if group.name in index}
    )


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
