# SPDX-License-Identifier: GPL-3.0-or-later
"""Robots' model files as characters: an armature with a bone a link, meshes rigidly on the bones, and a given body."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.body.given_body import given_to_mapping
from ...core.errors import RigError
from ...core.motion import Clip
from ...core.sim.models.reading import GivenCharacter
from ..mannequin.materials import Colour, plain_material
from ..rig.armatures import armature_from_skeleton
from ..scene.preserved_state import find_by_uid
from ..scene.time_slicing import SLICE_S, Slices, run_all_slices

_STANDS_S, _FPS = 2.0, 30.0


@dataclass(frozen=True, eq=False)
class _BoneMesh:
    """What is seen of one bone: points (V, 3), faces (F, 3), and of each face (F,) which of the colours it has."""

    bone: str
    points: NDArray[np.float32]
    faces: NDArray[np.int32]
    slots: NDArray[np.int32]
    colours: tuple[Colour, ...]


def add_given_character(scene: bpy.types.Scene, character: GivenCharacter, name: str) -> bpy.types.Object:
    """Add the character to the scene, in a collection of its own; gives its armature."""
    return run_all_slices(add_given_character_in_slices(lambda: scene, character, name, slice_s=float("inf")))


def add_given_character_in_slices(
    find_scene: Callable[[], bpy.types.Scene], character: GivenCharacter, name: str, *, slice_s: float = SLICE_S
) -> Slices[bpy.types.Object]:
    """The same a little at a time: meshes that nothing uses first, and in the last slice everything that shows."""
    parts: list[_BoneMesh] = yield lambda: _join_parts(character)
    meshes: list[int] = []
    materials: dict[Colour, int] = {}
    try:
        begun = time.perf_counter()
        for part in parts:
            if time.perf_counter() - begun > slice_s:
                yield None
                begun = time.perf_counter()
            meshes.append(_make_mesh(part, name, materials).session_uid)
        yield None
        return _show(find_scene(), character, name, parts, meshes)
    except BaseException:
        for blocks, uids in ((bpy.data.meshes, meshes), (bpy.data.materials, materials.values())):
            for uid in uids:
                block = find_by_uid(blocks, uid)
                if block is not None:
                    blocks.remove(block)
        raise


def _show(
    scene: bpy.types.Scene, character: GivenCharacter, name: str, parts: Sequence[_BoneMesh], meshes: Sequence[int]
) -> bpy.types.Object:
    """The armature with its meshes on their bones, in the scene."""
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    try:
        armature = armature_from_skeleton(character.body.skeleton, name, collection)
        armature.data.display_type = "STICK"
        armature.show_in_front = True
        armature.sinew_body.given = json.dumps(given_to_mapping(character.body), separators=(",", ":"))
        for part, uid in zip(parts, meshes, strict=True):
            mesh = _found(bpy.data.meshes, uid, name)
            mesh.name = f"{armature.name} {part.bone}"
            collection.objects.link(_place_on_bone(armature, part.bone, mesh))
    except BaseException:
        for obj in list(collection.objects):
            bpy.data.objects.remove(obj)
        bpy.data.collections.remove(collection)
        raise
    return armature


def model_name(path: Path) -> str:
    """What a character is called that was imported from a file."""
    return path.stem[:40] or "Model"


def standing_clip(character: GivenCharacter) -> Clip:
    """The character as it stands at rest, for two seconds."""
    skeleton, frames = character.body.skeleton, round(_STANDS_S * _FPS) + 1
    still = (np.tile(array, (frames, 1, 1)) for array in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    return Clip(skeleton, _FPS, *still, "stand")


def _join_parts(character: GivenCharacter) -> list[_BoneMesh]:
    """What is seen of each bone, of all its parts."""
    starts = [0, *character.vertex_ends[:-1]], [0, *character.face_ends[:-1]]
    by_bone: dict[str, list[int]] = {}
    for part, bone in enumerate(character.bones):
        by_bone.setdefault(bone, []).append(part)
    found = []
    for bone, parts in by_bone.items():
        points, faces, slots, count = [], [], [], 0
        colours: list[Colour] = []
        for part in parts:
            own = character.vertices[starts[0][part] : character.vertex_ends[part]]
            corners = character.faces[starts[1][part] : character.face_ends[part]]
            points.append(own)
            faces.append(corners + count)
            count += len(own)
            red, green, blue = (float(value) for value in np.round(character.colours[part][:3], 3))
            if (red, green, blue) not in colours:
                colours.append((red, green, blue))
            slots.append(np.full(len(corners), colours.index((red, green, blue)), dtype=np.int32))
        found.append(
            _BoneMesh(
                bone,
                np.concatenate(points).astype(np.float32),
                np.concatenate(faces).astype(np.int32),
                np.concatenate(slots),
                tuple(colours),
            )
        )
    return found


def _make_mesh(part: _BoneMesh, name: str, materials: dict[Colour, int]) -> bpy.types.Mesh:
    """The mesh of a bone. materials: of the colours that were seen before, by ``session_uid``; new ones are added."""
    mesh = bpy.data.meshes.new(f"{name} {part.bone}")
    for colour in part.colours:
        if colour not in materials:
            materials[colour] = plain_material(f"{name} {len(materials)}", colour, 0.4).session_uid
        mesh.materials.append(_found(bpy.data.materials, materials[colour], name))
    _fill_mesh(mesh, part)
    return mesh


def _place_on_bone(armature: bpy.types.Object, bone: str, mesh: bpy.types.Mesh) -> bpy.types.Object:
    """An object with the mesh, which moves rigidly with the bone."""
    obj = bpy.data.objects.new(mesh.name, mesh)
    obj.parent, obj.parent_type, obj.parent_bone = armature, "BONE", bone
    rest = armature.data.bones[bone]
    # A child of a bone stands at its tail.
    tail = rest.matrix_local @ Matrix.Translation((0.0, rest.length, 0.0))
    obj.matrix_parent_inverse = tail.inverted()
    return obj


def _found(blocks: Any, uid: int, name: str) -> Any:
    block = find_by_uid(blocks, uid)
    if block is None:
        raise RigError(f"'{name}' was undone while it was imported", "Import it again")
    return block


def _fill_mesh(mesh: bpy.types.Mesh, part: _BoneMesh) -> None:
    points, faces = part.points, part.faces
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.ravel())
    mesh.loops.add(3 * len(faces))
    mesh.loops.foreach_set("vertex_index", faces.ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(faces), 3, dtype=np.int32))
    mesh.polygons.foreach_set("material_index", part.slots)
    mesh.validate()
    mesh.update(calc_edges=True)
