# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of the characters and pushes in one redraw.

Of each character only what Blender alone knows is read; link transforms are then computed for all of them at once.
"""

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.body import BodyModel
from ...core.geometry.quaternions import Array
from ..body import fitted_bodies
from ..takes import copies
from .parts import BodyParts, Shapes, join_bodies

_LOOK_AGAIN_S = 0.5  # a scene may have thousands of objects: those on the stage are looked for that often


@dataclass(frozen=True, eq=False)
class ShownCharacter:
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
class FrameState:
    """One redraw of a scene. pushes: objects that push somebody.

    shapes, pos and axes: of all characters' links one after another, as in ``Shapes`` and ``ShownCharacter``; None
    without any.
    """

    scene: bpy.types.Scene
    depsgraph: bpy.types.Depsgraph
    frame: float
    characters: tuple[ShownCharacter, ...]
    pushes: tuple[bpy.types.Object, ...]
    shapes: Shapes | None
    pos: Array
    axes: Array


class _Read(NamedTuple):
    """What was read of one character: its world matrix row by row, and pose matrices (B, 16) column by column.

    places: (L,) of the links' bones in the pose. active: as in ``ShownCharacter``. action: the number of what moves it.
    bounds: how many single parts have bounds of their own.
    """

    obj: bpy.types.Object
    parts: BodyParts
    places: NDArray[np.intp]
    matrix: tuple[float, ...]
    pose: bytes
    active: int
    action: int
    bounds: int


@dataclass(frozen=True, eq=False)
class SceneReading:
    """What was read of the scene for a redraw, before anything is worked out. metres: of a Blender unit."""

    scene: bpy.types.Scene
    depsgraph: bpy.types.Depsgraph
    frame: float
    metres: float
    read: tuple[_Read, ...]
    pushes: tuple[bpy.types.Object, ...]

    def state(self) -> tuple[object, ...]:
        """Numbers and names that are the same where everything stands as it stood; no datablock is among them."""
        return (
            self.frame,
            self.metres,
            *((each.obj.session_uid, each.parts, *each[3:]) for each in self.read),
            *(_said_of(obj) for obj in self.pushes),
        )


# By scene when it was looked through, and the names of other characters and of pushes that were found.
_stage: dict[int, tuple[float, tuple[str, ...], tuple[str, ...]]] = {}
# By armature: the shapes of its body, made once for each body.
_parts: dict[int, BodyParts] = {}
# By armature: its bones, its body's parts, and where the links' bones are in the pose.
_order: dict[int, tuple[object, BodyParts, NDArray[np.intp]]] = {}


def read_scene(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, depsgraph: bpy.types.Depsgraph) -> SceneReading:
    """The scene as far as only Blender knows it."""
    others, pushes = _on_stage(scene)
    active = view_layer.objects.active
    # A baked copy is not what is simulated, but what one looks at.
    plays_take = active is not None and active.type == "ARMATURE" and len(active.sinew_takes) > 0
    first = [obj.name for obj in (scene.sinew.armature, active if plays_take else None) if obj is not None]
    names = dict.fromkeys(_shown_instead(scene, name) for name in (*first, *others))
    metres = _metres(scene)
    read = [each for name in names if (each := _read(scene, view_layer, depsgraph, name, metres)) is not None]
    found = [obj for name in pushes if (obj := scene.objects.get(name)) is not None and obj.sinew.role == "PUSH"]
    visible = tuple(obj for obj in found if obj.visible_get(view_layer=view_layer))
    return SceneReading(scene, depsgraph, scene.frame_current_final, metres, tuple(read), visible)


def compute_frame_state(reading: SceneReading) -> FrameState:
    """What was read, worked out for all characters at once."""
    characters, pos, axes = _stood(reading.read, reading.metres)
    shapes = _joined(tuple(each.parts for each in reading.read)) if reading.read else None
    return FrameState(reading.scene, reading.depsgraph, reading.frame, characters, reading.pushes, shapes, pos, axes)


def _shown_instead(scene: bpy.types.Scene, name: str) -> str:
    obj = scene.objects.get(name)
    return name if obj is None else copies.shown_instead(obj).name


def forget_frame_state() -> None:
    """Forget what was found."""
    _stage.clear()
    _parts.clear()
    _order.clear()
    _joined.cache_clear()


def _on_stage(scene: bpy.types.Scene) -> tuple[tuple[str, ...], tuple[str, ...]]:
    now = time.monotonic()
    when, others, pushes = _stage.get(scene.session_uid, (-1e9, (), ()))
    if now - when > _LOOK_AGAIN_S:
        marked = [(obj.name, obj.sinew.role, obj.type) for obj in scene.objects if obj.type in {"ARMATURE", "EMPTY"}]
        others = tuple(name for name, role, kind in marked if role == "CHARACTER" and kind == "ARMATURE")
        pushes = tuple(name for name, role, _ in marked if role == "PUSH")
        _stage[scene.session_uid] = now, others, pushes
    return others, pushes


def read_character(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, depsgraph: bpy.types.Depsgraph, name: str
) -> ShownCharacter | None:
    """The character of that name; None where there is nothing to show of it."""
    metres = _metres(scene)
    read = _read(scene, view_layer, depsgraph, name, metres)
    return _stood((read,), metres)[0][0] if read is not None else None


def _metres(scene: bpy.types.Scene) -> float:
    return scene.sinew.scale * scene.unit_settings.scale_length


def _read(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, depsgraph: bpy.types.Depsgraph, name: str, metres: float
) -> _Read | None:
    obj = scene.objects.get(name)
    if obj is None or obj.type != "ARMATURE" or not obj.visible_get(view_layer=view_layer):
        return None
    mode = obj.mode
    fitted = fitted_bodies.request_fit_if_changed(scene, obj, metres) if mode != "EDIT" else None
    if fitted is None or fitted.body is None:
        return None
    evaluated, parts = obj.evaluated_get(depsgraph), _parts_of(obj, fitted.body)
    bones = evaluated.pose.bones
    if len(bones) != len(obj.pose.bones):
        return None
    pose = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix", pose)
    a, b, c, d = evaluated.matrix_world  # row by row: as a whole NumPy takes four times as long to read it
    bone = obj.data.bones.active if mode == "POSE" else None
    return _Read(
        obj,
        parts,
        _places(obj, fitted.bones, parts),
        (*a, *b, *c, *d),
        pose.tobytes(),
        parts.link_of.get(bone.name, -1) if bone is not None else -1,
        fitted_bodies.uid_or_zero(obj.animation_data and obj.animation_data.action),
        len(obj.sinew_bound_parts),
    )


def _said_of(push: bpy.types.Object) -> tuple[object, ...]:
    own = push.sinew
    return push.session_uid, own.force, own.start_frame, own.duration, own.bone, fitted_bodies.uid_or_zero(own.armature)


def _stood(read: tuple[_Read, ...], metres: float) -> tuple[tuple[ShownCharacter, ...], Array, Array]:
    """The characters, and where all their links stand: (N, 3) and (N, 3, 3), of which they have their own."""
    if not read:
        return (), np.zeros((0, 3)), np.zeros((0, 3, 3))
    counts = [len(each.places) for each in read]
    chosen = [np.frombuffer(each.pose, dtype=np.float32).reshape(-1, 16)[each.places] for each in read]
    poses = np.concatenate(chosen).reshape(-1, 4, 4).swapaxes(1, 2)  # Blender hands out columns
    matrices = np.array([each.matrix for each in read]).reshape(-1, 4, 4)
    turns = rotations(np.concatenate([poses[:, :3, :3], matrices[:, :3, :3]]))
    whose = np.repeat(np.arange(len(read)), counts)
    axes = turns[len(poses) :][whose] @ turns[: len(poses)]
    pos = (matrices[whose] @ poses[:, :, 3:])[:, :3, 0]
    shown, start = [], 0
    for each, count in zip(read, counts, strict=True):
        own = slice(start, start := start + count)
        shown.append(ShownCharacter(each.obj, each.parts, pos[own], axes[own], metres, each.active))
    return tuple(shown), pos, axes


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


def _parts_of(obj: bpy.types.Object, body: BodyModel) -> BodyParts:
    known = _parts.get(obj.session_uid)
    if known is None or known.body is not body:
        known = _parts[obj.session_uid] = BodyParts(body)
    return known


def _places(obj: bpy.types.Object, bones: object, parts: BodyParts) -> NDArray[np.intp]:
    """(L,) where the links' bones are in the pose."""
    known = _order.get(obj.session_uid)
    if known is None or known[0] != bones or known[1] is not parts:
        order = {bone.name: place for place, bone in enumerate(obj.pose.bones)}
        known = _order[obj.session_uid] = bones, parts, np.array([order[name] for name in parts.bones])
    return known[2]


_joined = lru_cache(maxsize=4)(join_bodies)
