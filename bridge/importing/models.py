# SPDX-License-Identifier: GPL-3.0-or-later
"""Robots' model files as characters: an armature with a bone a link, meshes rigidly on the bones, and a given body."""

import json
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

from ...core.body.given_body import given_to_mapping
from ...core.motion import Clip
from ...core.sim.models.reading import GivenCharacter
from ..mannequin.materials import plain_material
from ..rig.armatures import armature_from_skeleton

_STANDS_S, _FPS = 2.0, 30.0


def add_given_character(scene: bpy.types.Scene, character: GivenCharacter, name: str) -> bpy.types.Object:
    """Add the character to the scene, in a collection of its own; gives its armature."""
    collection = bpy.data.collections.new(name)
    scene.collection.children.link(collection)
    try:
        armature = armature_from_skeleton(character.body.skeleton, name, collection)
        armature.data.display_type = "STICK"
        armature.show_in_front = True
        armature.sinew_body.given = json.dumps(given_to_mapping(character.body), separators=(",", ":"))
        for obj in _parts(armature, character):
            collection.objects.link(obj)
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


def _parts(armature: bpy.types.Object, character: GivenCharacter) -> list[bpy.types.Object]:
    """A mesh object a bone, with all that is seen of it."""
    materials: dict[tuple[float, ...], bpy.types.Material] = {}
    starts = [0, *character.vertex_ends[:-1]], [0, *character.face_ends[:-1]]
    by_bone: dict[str, list[int]] = {}
    for part, bone in enumerate(character.bones):
        by_bone.setdefault(bone, []).append(part)
    found = []
    for bone, parts in by_bone.items():
        points, faces, slots, count = [], [], [], 0
        mesh = bpy.data.meshes.new(f"{armature.name} {bone}")
        for part in parts:
            own = character.vertices[starts[0][part] : character.vertex_ends[part]]
            corners = character.faces[starts[1][part] : character.face_ends[part]]
            points.append(own)
            faces.append(corners + count)
            count += len(own)
            key = tuple(float(value) for value in np.round(character.colours[part][:3], 3))
            if key not in materials:
                materials[key] = plain_material(f"{armature.name} {len(materials)}", key, 0.4)
            if materials[key].name not in mesh.materials:
                mesh.materials.append(materials[key])
            slots += [mesh.materials.find(materials[key].name)] * len(corners)
        _fill_mesh(mesh, np.concatenate(points), np.concatenate(faces), slots)
        obj = bpy.data.objects.new(mesh.name, mesh)
        obj.parent, obj.parent_type, obj.parent_bone = armature, "BONE", bone
        rest = armature.data.bones[bone]
        # A child of a bone stands at its tail.
        tail = rest.matrix_local @ Matrix.Translation((0.0, rest.length, 0.0))
        obj.matrix_parent_inverse = tail.inverted()
        found.append(obj)
    return found


def _fill_mesh(mesh: bpy.types.Mesh, points: np.ndarray, faces: np.ndarray, slots: list[int]) -> None:
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
    mesh.loops.add(3 * len(faces))
    mesh.loops.foreach_set("vertex_index", faces.astype(np.int32).ravel())
    mesh.polygons.add(len(faces))
    mesh.polygons.foreach_set("loop_start", np.arange(0, 3 * len(faces), 3, dtype=np.int32))
    mesh.polygons.foreach_set("material_index", np.array(slots, dtype=np.int32))
    mesh.validate()
    mesh.update(calc_edges=True)
