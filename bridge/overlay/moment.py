# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is to draw about: the characters as they stand in this redraw, and the pushes."""

import time
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.geometry.quaternions import Array
from . import fitting
from .parts import BodyParts

_LOOK_AGAIN_S = 0.5  # a scene may have thousands of objects: those on the stage are looked for that often


@dataclass(frozen=True, eq=False)
class Shown:
    """A character with L links: where they stand, pos (L, 3) in Blender units and axes (L, 3, 3), in the world.

    metres: of a Blender unit. active: the link of the active bone, -1 for none or outside of Pose Mode.
    """

    obj: bpy.types.Object
    parts: BodyParts
    pos: Array
    axes: Array
    metres: float
    active: int


@dataclass(frozen=True, eq=False)
class Moment:
    """One redraw of a scene. pushes: objects that push somebody."""

    scene: bpy.types.Scene
    depsgraph: bpy.types.Depsgraph
    frame: float
    characters: tuple[Shown, ...]
    pushes: tuple[bpy.types.Object, ...]


# By scene when it was looked through, and the names of other characters and of pushes that were found.
_stage: dict[int, tuple[float, tuple[str, ...], tuple[str, ...]]] = {}
_order: dict[int, tuple[object, dict[str, int]]] = {}  # by armature: its bones, and their places in the pose


def moment_of(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, depsgraph: bpy.types.Depsgraph) -> Moment:
    """The scene as it stands."""
    others, pushes = _on_stage(scene)
    active = view_layer.objects.active
    # A baked copy is not what is simulated, but what one looks at.
    plays_take = active is not None and active.type == "ARMATURE" and len(active.sinew_takes) > 0
    first = [obj.name for obj in (scene.sinew.armature, active if plays_take else None) if obj is not None]
    names = dict.fromkeys([*first, *others])
    characters = [shown for name in names if (shown := character(scene, view_layer, depsgraph, name)) is not None]
    found = [obj for name in pushes if (obj := scene.objects.get(name)) is not None and obj.sinew.role == "PUSH"]
    visible = tuple(obj for obj in found if obj.visible_get(view_layer=view_layer))
    return Moment(scene, depsgraph, scene.frame_current_final, tuple(characters), visible)


def clear() -> None:
    """Forget what was found."""
    _stage.clear()
    _order.clear()


def _on_stage(scene: bpy.types.Scene) -> tuple[tuple[str, ...], tuple[str, ...]]:
    now = time.monotonic()
    when, others, pushes = _stage.get(scene.session_uid, (-1e9, (), ()))
    if now - when > _LOOK_AGAIN_S:
        marked = [(obj.name, obj.sinew.role, obj.type) for obj in scene.objects if obj.type in {"ARMATURE", "EMPTY"}]
        others = tuple(name for name, role, kind in marked if role == "CHARACTER" and kind == "ARMATURE")
        pushes = tuple(name for name, role, _ in marked if role == "PUSH")
        _stage[scene.session_uid] = now, others, pushes
    return others, pushes


def character(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, depsgraph: bpy.types.Depsgraph, name: str
) -> Shown | None:
    """The character of that name; None where there is nothing to show of it."""
    obj = scene.objects.get(name)
    if obj is None or obj.type != "ARMATURE" or obj.mode == "EDIT" or not obj.visible_get(view_layer=view_layer):
        return None
    fitted = fitting.look(scene, obj)
    if fitted.parts is None:
        return None
    matrix, pose = pose_of(obj, depsgraph)
    places = _places(obj, fitted.bones, fitted.parts)
    if len(pose) <= max(places):
        return None
    chosen = pose[places]
    turns = rotations(np.concatenate([matrix[None, :3, :3], chosen[:, :3, :3]]))
    pos = chosen[:, :3, 3] @ matrix[:3, :3].T + matrix[:3, 3]
    axes = turns[0] @ turns[1:]
    bone = obj.data.bones.active if obj.mode == "POSE" else None
    active = fitted.parts.body.link_of(bone.name) if bone is not None else -1
    metres = scene.sinew.scale * scene.unit_settings.scale_length
    return Shown(obj, fitted.parts, pos, axes, metres, active)


def pose_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[Array, Array]:
    """The object's evaluated world matrix (4, 4) and its bones' pose matrices (B, 4, 4)."""
    evaluated = obj.evaluated_get(depsgraph)
    bones = evaluated.pose.bones
    buffer = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix", buffer)
    # Blender hands out columns.
    return np.array(evaluated.matrix_world), buffer.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)


def rotations(matrices: Array) -> Array:
    """``rig_reader.rotation_of`` of matrices (N, 3, 3), in a tenth of the time for a few of them."""
    x, y = matrices[:, :, 0], matrices[:, :, 1]
    y = y / np.sqrt(np.einsum("ni,ni->n", y, y) + 1e-24)[:, None]
    x = x - np.einsum("ni,ni->n", x, y)[:, None] * y
    x = x / np.sqrt(np.einsum("ni,ni->n", x, x) + 1e-24)[:, None]
    found = np.empty_like(matrices)
    found[:, :, 0], found[:, :, 1] = x, y
    found[:, 0, 2] = x[:, 1] * y[:, 2] - x[:, 2] * y[:, 1]
    found[:, 1, 2] = x[:, 2] * y[:, 0] - x[:, 0] * y[:, 2]
    found[:, 2, 2] = x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]
    return found


def _places(obj: bpy.types.Object, bones: object, parts: BodyParts) -> list[int]:
    """Where the links' bones are in the pose."""
    known = _order.get(obj.session_uid)
    if known is None or known[0] != bones:
        known = bones, {bone.name: place for place, bone in enumerate(obj.pose.bones)}
        _order[obj.session_uid] = known
    return [known[1][name] for name in parts.bones]
