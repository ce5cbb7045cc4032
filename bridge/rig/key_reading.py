# SPDX-License-Identifier: GPL-3.0-or-later
"""Mocap read from its keys: where every frame has its key and nothing else moves the bones, poses need no Blender.

Blender evaluates some hundred frames a second, and copies an Action of 60,000 frames before the first of them. Keys can
be had as arrays. What is not as plain as that, constraints, drivers, NLA, curves with gaps, is left to Blender.
"""

import re
import time
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.geometry.quaternions import Array, from_rotation_vector, multiply, normalize, to_matrix
from . import actions, sources
from .key_checks import are_unbelievable, bad_key
from .rest_bones import BONE_CHANNEL, RestBone, bone_depths, inheritance_of

_NO_BONE = re.compile(r"^(delta_)?(location|rotation_\w+|scale)$")
_SIZES = {"location": 3, "rotation_euler": 3, "rotation_quaternion": 4, "rotation_axis_angle": 4, "scale": 3}
_NEAR = 1e-4  # of a frame, as Blender has it


class KeyReading:
    """Pose matrices of an armature from the keys of an Action, curve by curve.

    Nothing of Blender's is held: curves are found anew by their places for each slice.
    """

    def __init__(self, obj: bpy.types.Object, action: bpy.types.Action, places: Array, without_takes: bool) -> None:
        """places: (T,) whole scene frames. without_takes: what only a take keys is as it was before it."""
        self.places, self._armature = places, obj.name
        self.bones = [RestBone.of(bone) for bone in obj.pose.bones]
        depths = list(bone_depths(obj.pose.bones).values())
        self._order = sorted(range(len(depths)), key=depths.__getitem__)  # parents first
        self.matrix_world = np.array(obj.matrix_world)
        placed = sources.prior_animation(obj).placed if without_takes else {}
        # By bone and channel (n,) its values where they are not keyed.
        self._resting: dict[tuple[str, str], Array] = {}
        for bone in obj.pose.bones:
            for name in ("location", sources.rotation_channel(bone.rotation_mode), "scale"):
                values = placed.get(bone.path_from_id(name), getattr(bone, name))
                self._resting[bone.name, name] = np.array(values, dtype=float)
        self._keyed: dict[tuple[str, str, int], Array] = {}
        self._curves = len(actions.curves_of(action, actions.slot_for(action, obj)))
        self._done = 0

    @property
    def fraction(self) -> float:
        """How much of it is read, 0 to 1."""
        return self._done / max(self._curves, 1)

    def advance(self, obj: bpy.types.Object, action: bpy.types.Action, seconds: float) -> bool | None:
        """Read on for about so long, at least one curve; True if everything is read, None if it is not that plain."""
        begun = time.perf_counter()
        curves = actions.curves_of(action, actions.slot_for(action, obj))
        if len(curves) != self._curves:
            return None
        while self._done < len(curves):
            if not self._read(curves[self._done]):
                return None
            self._done += 1
            if time.perf_counter() - begun > seconds:
                break
        if self._done < len(curves):
            return False
        return True if self._is_plain() else None

    def _read(self, curve: bpy.types.FCurve) -> bool:
        """Read a curve; False if it takes Blender to know what it does."""
        match = BONE_CHANNEL.match(curve.data_path)
        if match is None:
            return _NO_BONE.match(curve.data_path) is None  # it does not move a bone
        bone, name = bpy.utils.unescape_identifier(match[1]), match[2]
        if name == "rotation_mode" or curve.mute or len(curve.modifiers) or (curve.group and curve.group.mute):
            return False
        if (bone, name) not in self._resting:
            return True  # a bone that is not there, or a way of turning that does not count
        values = _values_at(curve.keyframe_points, self.places)
        if values is None:
            return False
        bad = are_unbelievable(values)
        if bad.any():
            raise bad_key(bone, self._armature, float(self.places[bad][0]), float(values[bad][0]))
        self._keyed[bone, name, curve.array_index] = values
        return True

    def _is_plain(self) -> bool:
        """Whether no connected bone is moved, which only Blender knows what becomes of."""
        connected = [bone.name for bone in self.bones if bone.connected]
        return not any(self._values(name, "location").any() for name in connected)

    def _values(self, bone: str, name: str) -> Array:
        """(T, n) of a channel, or (1, n) where it is not keyed."""
        resting = self._resting[bone, name]
        keyed = {i: self._keyed[bone, name, i] for i in range(_SIZES[name]) if (bone, name, i) in self._keyed}
        if not keyed:
            return resting[None]
        found = np.broadcast_to(resting, (len(self.places), len(resting))).copy()
        for index, values in keyed.items():
            found[:, index] = values
        return found

    def poses(self) -> Array:
        """(T, B, 4, 4) in armature space, in pose order. For any thread, once everything is read."""
        found = np.zeros((len(self.places), len(self.bones), 4, 4))
        index = {bone.name: place for place, bone in enumerate(self.bones)}
        for place in self._order:
            bone = self.bones[place]
            found[:, place] = bone.rest @ self._basis(bone)
            if bone.parent_rest is not None:
                found[:, place] = found[:, index[bone.parent]] @ (np.linalg.inv(bone.parent_rest) @ found[:, place])
        return found

    def _basis(self, bone: RestBone) -> Array:
        """(T or 1, 4, 4) what a bone's own channels make."""
        place, scale = self._values(bone.name, "location"), self._values(bone.name, "scale")
        turn = to_matrix(_rotations(bone.mode, self._values(bone.name, sources.rotation_channel(bone.mode))))
        count = max(len(place), len(scale), len(turn))
        basis = np.zeros((count, 4, 4))
        basis[:, :3, :3] = turn * scale[:, None]
        basis[:, :3, 3] = place
        basis[:, 3, 3] = 1.0
        return basis


def can_read_keys(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    action: bpy.types.Action,
    places: Array,
    without_takes: bool = False,
) -> bool:
    """Whether nothing but the keys of ``action`` can move the armature's bones, and nothing at all the armature.

    action: what moves it, assigned and not as a strip. places: (T,) scene frames. without_takes: as in ``KeyReading``.
    """
    data = obj.animation_data
    if not np.array_equal(places, np.rint(places)):
        return False
    if scene.render.frame_map_old != scene.render.frame_map_new:
        return False
    if obj.parent is not None or len(obj.constraints) or (data is not None and data.drivers):
        return False
    if data is not None and _mixes(obj, action, without_takes):
        return False
    if obj.data.animation_data is not None or scene.rigidbody_world is not None:
        return False
    if bpy.app.handlers.frame_change_pre or bpy.app.handlers.frame_change_post:
        return False
    return all(not len(bone.constraints) and inheritance_of(bone.bone) != "OTHERWISE" for bone in obj.pose.bones)


def _mixes(obj: bpy.types.Object, action: bpy.types.Action, without_takes: bool) -> bool:
    """Whether more than this Action moves it: not what is muted, a take that is left out, or what it plays over."""
    data = obj.animation_data
    if data.action_blend_type != "REPLACE" or data.action_influence < 1.0:
        return True
    if any(track.is_solo for track in data.nla_tracks):
        return True
    left_out = sources.active_take(obj)[1] if without_takes else None
    tracks = [track for track in data.nla_tracks if not track.mute and track != left_out]
    strips = [strip for track in tracks for strip in track.strips if not strip.mute]
    if not strips:
        return False
    # The Action replaces what strips below it do, channel by channel.
    keyed = _channels(action, actions.slot_for(action, obj))
    return data.action_extrapolation != "HOLD" or not all(
        strip.type == "CLIP" and _channels(strip.action, strip.action_slot) <= keyed for strip in strips
    )


def _channels(action: bpy.types.Action | None, slot: Any | None) -> set[tuple[str, int]]:
    curves = actions.curves_of(action, slot) if action is not None else []
    return {(curve.data_path, curve.array_index) for curve in curves}


def _values_at(points: Any, places: Array) -> NDArray[np.float32] | None:
    """(T,) the values of keys at frames (T,); None unless there is one at each, or one for all."""
    both = np.empty(2 * len(points), dtype=np.float32)
    points.foreach_get("co", both)
    frames, values = both[::2], both[1::2]
    if len(points) == 1:
        return np.broadcast_to(values, len(places))
    if not len(points):
        return None
    at = np.minimum(np.searchsorted(frames, places - _NEAR), len(points) - 1)
    if np.abs(frames[at] - places).max() > _NEAR:
        return None
    return values[at]


def _rotations(mode: str, values: Array) -> Array:
    """(T, 4) quaternions of a rotation channel's values (T, n)."""
    if mode == "QUATERNION":
        nothing = ~values.any(axis=-1, keepdims=True)
        return normalize(np.where(nothing, [0.0, 1.0, 0.0, 0.0], values))  # what Blender makes of it
    if mode == "AXIS_ANGLE":
        length = np.linalg.norm(values[:, 1:], axis=-1, keepdims=True)
        return from_rotation_vector(values[:, :1] * values[:, 1:] / np.maximum(length, 1e-12))
    first, second, third = (
        from_rotation_vector(np.eye(3)["XYZ".index(axis)] * values[:, "XYZ".index(axis), None]) for axis in mode
    )
    return multiply(third, multiply(second, first))
