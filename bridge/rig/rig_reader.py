# SPDX-License-Identifier: GPL-3.0-or-later
"""The door out of Blender: an armature's evaluated pose over time becomes a ``Clip``.

What is read is what the animator sees: constraints, drivers, IK and NLA are all in it. Positions go
through the object's whole matrix; rotations through its rotation alone. Both can be undone exactly,
whatever the object's scale, which is what ``rig_writer`` does.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import RigError
from ...core.geometry.quaternions import Array, from_matrix, multiply, rotate, to_matrix
from ...core.limits import LARGEST_SCALE, MOST_FRAMES
from ...core.motion import Clip, Skeleton, Tag
from ...core.motion.bone_lengths import replace_impossible_lengths
from ...core.motion.cut_bridging import bridge_cuts
from ...core.motion.loops import loop_clip
from ...core.motion.marker_tags import parse_markers
from ...core.motion.motion_size import require_frame_rate, require_keys, require_motion_size
from ...core.motion.skeleton import to_local
from ...core.motion.trim import find_trim
from ..scene.preserved_state import find_by_uid
from ..scene.time_slicing import SLICE_S, Slices
from . import actions, key_reading, sources
from .key_checks import KeyCheck, bad_key
from .key_reading import KeyReading
from .rest_bones import bone_depths
from .rig_sampling import RigSampling, count_keys

Frames = TypeVar("Frames", float, Array)

_WHOLE = 1e-9  # of a frame, by which a number of frames is none but for rounding
_BLOCK_POSES = 50_000  # bones times frames that are converted at a time: some 40 MB on the way
_SMALLEST_SCALE = 1e-6  # a bone scaled to nothing must leave its children a matrix that can be inverted


@dataclass(frozen=True, eq=False)
class RigMotion:
    """A clip with what only Blender cares about.

    bone_stretch: (T, B, 3, 3) what is left of each pose matrix when its rotation is taken off: scale, and the
        shear that children inherit from parents scaled unevenly. Identity for a rig without squash and stretch.
    frame_start: scene frame of the first sample.
    scene_fps: the scene's frames a second.
    metres_per_unit: how many metres a Blender unit is, unit scale included.
    time_stretch: scene frames of the result for each scene frame of the source; 1 unless its rate was wrong.
    """

    clip: Clip
    bone_stretch: NDArray[np.float32]
    frame_start: int
    scene_fps: float
    metres_per_unit: float
    time_stretch: float = 1.0

    def to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """What travels in the job's ``inputs/rig.npz``: (arrays, meta). The clip travels by itself."""
        numbers = ("frame_start", "scene_fps", "metres_per_unit", "time_stretch")
        return {"bone_stretch": self.bone_stretch}, {name: getattr(self, name) for name in numbers}

    @classmethod
    def from_arrays(cls, clip: Clip, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> "RigMotion":
        """The inverse of ``to_arrays``."""
        return cls(clip, arrays["bone_stretch"], **meta)

    def result_frame(self, frame: Frames) -> Frames:
        """The scene frame, or frames, of a result on the clip's clock for those of the source."""
        return self.frame_start + (frame - self.frame_start) * self.time_stretch


def loop_rig(rig: RigMotion, cycles: int) -> RigMotion:
    """The motion ``cycles`` times over; see ``core.motion.loops``."""
    clip = loop_clip(rig.clip, cycles)
    period = len(rig.clip) - 1
    frames = np.arange(len(clip))
    again = np.where(frames == len(clip) - 1, period, frames % period)
    return replace(rig, clip=clip, bone_stretch=rig.bone_stretch[again])


def trim_rig(rig: RigMotion) -> RigMotion:
    """The motion without what is none of it at its ends, and with its cuts bridged; see ``core.motion.trim``."""
    trim = find_trim(rig.clip)
    if not trim.findings:
        return rig
    clip = trim.cut_clip(bridge_cuts(rig.clip, trim.cuts))
    begins = rig.frame_start + round(trim.start * rig.scene_fps / (rig.clip.fps * rig.time_stretch))
    return replace(rig, clip=clip, bone_stretch=rig.bone_stretch[trim.start : trim.stop], frame_start=begins)


def read_rig(
    obj: bpy.types.Object,
    *,
    action: bpy.types.Action | None = None,
    frames: tuple[int, int] | None = None,
    fps: float | None = None,
    true_fps: float | None = None,
    scale: float = 1.0,
) -> RigMotion:
    """Read the armature's evaluated motion.

    action: the Action to play while reading; None for whatever moves the armature now.
    frames: first and last scene frame, both included; None for the Action's own range.
    fps: samples a second; None for one sample a scene frame. Samples may fall between frames.
    true_fps: the scene rate at which the motion is right, where the file's label is wrong.
    scale: metres a Blender unit, on top of the scene's unit scale.
    """
    reading = RigReading(obj, action=action, frames=frames, fps=fps, true_fps=true_fps, scale=scale)
    reading.advance()
    return reading.finish()


class RigReading:
    """A motion that is being read in slices: see ``read_rig`` for what it is made of.

    without_takes: what a take keys and the Action does not is as it was before that take.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        *,
        action: bpy.types.Action | None = None,
        frames: tuple[int, int] | None = None,
        fps: float | None = None,
        true_fps: float | None = None,
        scale: float = 1.0,
        without_takes: bool = False,
    ) -> None:
        scene = bpy.context.scene
        require_readable(obj, scale)
        self._scene_fps = scene.render.fps / scene.render.fps_base
        playing = action or _moved_by(obj, without_takes)
        if playing is not None:
            actions.require_frames(playing, actions.slot_for(playing, obj))
        if frames is None and playing is not None:  # at a glance, if its keys tell
            frames = actions.frame_range(playing, actions.slot_for(playing, obj))
        if frames is None:
            with sources.without_takes([obj] if without_takes else []), actions.play_temporarily(obj, action):
                frames = _own_range(obj, playing)
        first, last = frames
        if last <= first:
            what = f"Action '{playing.name}'" if playing else f"'{obj.name}'"
            raise RigError(
                f"{what} has only one frame ({first})", "Choose an Action or frame range of at least two frames"
            )
        _require_frames(obj, first, last)
        step = self._scene_fps / fps if fps else 1.0
        step = round(step) if abs(step - round(step)) < _WHOLE else step
        count = int(np.floor((last - first) / step + 1e-6)) + 1
        label = f"'{playing.name if playing else obj.name}'"
        require_frame_rate(label, true_fps or self._scene_fps)
        require_motion_size(label, count, len(obj.pose.bones))
        require_keys(label, count, len(obj.pose.bones), count_keys(obj, action))
        places = first + np.arange(count) * step
        self.title = playing.name if playing else obj.name
        self._armature = obj.name
        self._first, self._fps, self._true_fps = int(first), fps, true_fps
        self._metres = scale * scene.unit_settings.scale_length
        self._tags = _tags(playing, places) if playing else ()
        self._bones = _Bones.of(obj)
        self._sampling = RigSampling(obj, action, places, without_takes=without_takes)
        self._check, self._are_sound = KeyCheck(places), False
        self._keys: KeyReading | None = None
        if playing is not None and key_reading.can_read_keys(scene, obj, playing, places, without_takes):
            self._keys, self._playing_uid = KeyReading(obj, playing, places, without_takes), playing.session_uid

    @property
    def frames(self) -> tuple[int, int]:
        """How many frames are read, and how many there are."""
        total = len(self._sampling.places)
        return self._sampling.done if self._keys is None else int(self._keys.fraction * total), total

    def advance(self, seconds: float = float("inf")) -> bool:
        """Read on for about so long; True if everything is read."""
        if self._keys is not None:
            _, obj, _ = self._sampling.resolve()
            playing = find_by_uid(bpy.data.actions, self._playing_uid)
            done = self._keys.advance(obj, playing, seconds) if playing is not None else None
            if done is not None:
                return done
            self._keys = None
        if not self._are_sound:
            _, obj, action = self._sampling.resolve()
            self._are_sound = self._check.advance(obj, action, seconds)
            if not self._are_sound:
                return False
        return self._sampling.advance(seconds)

    def close(self) -> None:
        """Leave nothing of it in the file, as when it is not gone on with."""
        self._sampling.close()

    def finish(self) -> RigMotion:
        """The motion, once everything is read. Nothing of Blender's is touched, so that any thread may do it."""
        matrix_world, pose = self._sampling.matrix_world, self._sampling.pose
        if self._keys is not None:
            matrix_world, pose = np.broadcast_to(self._keys.matrix_world, (len(pose), 4, 4)), self._keys.poses()
        skeleton = self._bones.rest(matrix_world[0], self._metres)
        stretch = self._scene_fps / (self._true_fps or self._scene_fps)
        rate = (self._fps or self._scene_fps) / stretch
        local_pos, local_quat, bone_stretch = self._convert(matrix_world, pose, skeleton)
        del pose
        self._sampling.pose = self._sampling.pose[:0]  # a long motion has no room for both
        clip = Clip(skeleton, rate, local_pos, local_quat, self.title, self._tags)
        return RigMotion(clip, bone_stretch, self._first, self._scene_fps, self._metres, stretch)

    def _convert(
        self, matrix_world: Array, pose: NDArray[Any], skeleton: Skeleton
    ) -> tuple[Array, Array, NDArray[np.float32]]:
        """Local positions (T, B, 3) and rotations (T, B, 4) in metres, and bone stretches (T, B, 3, 3), in blocks."""
        frames, bones = pose.shape[:2]
        local_pos, local_quat = np.empty((frames, bones, 3)), np.empty((frames, bones, 4))
        bone_stretch = np.empty((frames, bones, 3, 3), dtype=np.float32)
        length = max(_BLOCK_POSES // bones, 1)
        for block in (slice(start, start + length) for start in range(0, frames, length)):
            self._bones.require_finite(self._armature, pose[block], self._sampling.places[block])
            ordered = pose[block, self._bones.order].astype(float)
            pos, quat, bone_stretch[block] = _to_world(matrix_world[block], ordered, self._metres)
            local_pos[block], local_quat[block] = to_local(skeleton.parents, pos, quat)
        return local_pos, local_quat, bone_stretch


def require_readable(obj: bpy.types.Object | None, scale: float = 1.0) -> None:
    """Refuse what cannot be read, naming it and the fix."""
    if obj is None or obj.type != "ARMATURE":
        name = f"'{obj.name}' is not an armature" if obj is not None else "There is no armature"
        raise RigError(name, "Select an armature that has an Action")
    require_scale(scale)
    if not obj.data.bones:
        raise RigError(f"Armature '{obj.name}' has no bones", "Choose another armature")
    if obj.mode == "EDIT":
        raise RigError(f"Armature '{obj.name}' is in Edit Mode", "Leave Edit Mode with Tab")
    if obj.data.pose_position == "REST":
        raise RigError(f"Armature '{obj.name}' is in Rest Position", "Switch it to Pose Position in its Data tab")
    bpy.context.view_layer.update()  # what was just changed by hand or script counts
    if obj.name not in bpy.context.view_layer.objects:
        raise RigError(f"Armature '{obj.name}' is not in this view layer", "Enable its collection in the Outliner")
    determinant = obj.matrix_world.determinant()
    if abs(determinant) < 1e-18:
        raise RigError(f"Armature '{obj.name}' has a scale of zero", "Set its scale to 1")
    if determinant < 0:
        raise RigError(
            f"Armature '{obj.name}' is mirrored by a negative scale", "Apply it with Object > Apply > Scale (Ctrl+A)"
        )


def require_scale(scale: float) -> None:
    """Refuse metres a unit that are none."""
    if not (np.isfinite(scale) and scale > 0.0):
        raise RigError(f"The scale is {scale}", "Give metres a unit above zero, such as --scale 0.01")
    if not 1.0 / LARGEST_SCALE <= scale <= LARGEST_SCALE:
        hint = f"Give metres a unit between {1.0 / LARGEST_SCALE:g} and {LARGEST_SCALE:g}, such as --scale 0.01"
        raise RigError(f"The scale is {scale:g}", hint)


def rotation_of(matrix: Array) -> Array:
    """(..., 3, 3) the rotation in matrices (..., 3, 3) with scale and perhaps shear: their Y axes are kept."""
    x, y = matrix[..., :, 0], _unit(matrix[..., :, 1])
    x = _unit(x - np.sum(x * y, -1, keepdims=True) * y)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def _to_world(matrix_world: Array, pose: Array, metres: float) -> tuple[Array, Array, NDArray[np.float32]]:
    """World positions (T, B, 3) in metres, rotations (T, B, 4) and bone stretches (T, B, 3, 3)."""
    pos = np.einsum("tij,tbj->tbi", matrix_world[:, :3, :3], pose[..., :3, 3]) + matrix_world[:, None, :3, 3]
    object_quat = from_matrix(rotation_of(matrix_world[:, :3, :3]))
    axes = pose[..., :3, :3]
    quat = from_matrix(rotation_of(axes))
    stretch = np.swapaxes(to_matrix(quat), -1, -2) @ axes
    vanished = np.linalg.norm(axes, axis=-2).min(-1) < _SMALLEST_SCALE
    stretch[vanished] = np.eye(3) * _SMALLEST_SCALE
    return pos * metres, multiply(object_quat[:, None], quat), stretch.astype(np.float32)


def read_rig_in_slices(
    obj: bpy.types.Object,
    action: bpy.types.Action | None,
    frames: tuple[int, int] | None,
    fps: float | None,
    scale: float,
    *,
    slice_s: float = SLICE_S,
) -> Slices[RigMotion]:
    """``read_rig`` in slices."""
    reading = RigReading(obj, action=action, frames=frames, fps=fps, scale=scale)
    yield None  # with many bones that alone took a while
    while not reading.advance(slice_s):
        yield None
    rig: RigMotion = yield reading.finish
    return rig


@dataclass(frozen=True, eq=False)
class _Bones:
    """The bones at rest, with nothing of Blender's in it.

    order: pose-bone indices with parents before children; parents: each one's parent in that order. names and above: of
    the bones and of their parents ('' for none) in pose order. matrices (B, 4, 4) and lengths (B,) in the new order.
    """

    order: list[int]
    parents: list[int]
    names: list[str]
    above: list[str]
    matrices: Array
    lengths: Array

    @classmethod
    def of(cls, obj: bpy.types.Object) -> "_Bones":
        """Those of an armature."""
        bones = obj.pose.bones
        index = {bone.name: i for i, bone in enumerate(bones)}
        depth = bone_depths(bones)
        order = sorted(range(len(bones)), key=lambda i: depth[bones[i].name])
        place = {old: new for new, old in enumerate(order)}
        parents = [place[index[bones[i].parent.name]] if bones[i].parent else -1 for i in order]
        return cls(
            order,
            parents,
            list(index),
            [bone.parent.name if bone.parent else "" for bone in bones],
            np.array([bones[i].bone.matrix_local for i in order]),
            np.array([bones[i].bone.length for i in order]),
        )

    def require_finite(self, armature: str, pose: Array, places: Array) -> None:
        """Refuse a pose with values that are not numbers, naming bone and frame."""
        bad = ~np.isfinite(pose).all((-1, -2))
        if bad.any():
            # Children inherit what is wrong with their parents, so name a bone whose parent is sound.
            frame = int(np.argwhere(bad.any(1))[0, 0])
            broken = {self.names[i] for i in np.flatnonzero(bad[frame])}
            both = zip(self.names, self.above, strict=True)
            bone = next(name for name, above in both if name in broken and above not in broken)
            raise bad_key(bone, armature, float(places[frame]))

    def rest(self, matrix_world: Array, metres: float) -> Skeleton:
        """The skeleton at rest, standing as it stands in the scene but at the origin."""
        matrices, parents = self.matrices, self.parents
        object_scale = np.linalg.norm(matrix_world[:3, :3], axis=0)
        object_quat = from_matrix(rotation_of(matrix_world[:3, :3]))
        pos = rotate(object_quat, matrices[:, :3, 3] * object_scale * metres)
        quat = multiply(object_quat, from_matrix(rotation_of(matrices[:, :3, :3])))
        rest_pos, rest_quat = to_local(parents, pos, quat)
        along = matrices[:, :3, 1] * self.lengths[:, None]
        lengths = replace_impossible_lengths(
            np.array(parents), pos, np.linalg.norm(along * object_scale * metres, axis=-1)
        )
        return Skeleton(tuple(self.names[i] for i in self.order), np.array(parents), rest_pos, rest_quat, lengths)


def _moved_by(obj: bpy.types.Object, without_takes: bool) -> bpy.types.Action | None:
    """The Action that moves the armature now, or moved it before its take."""
    if without_takes:
        return sources.prior_animation(obj).action
    return obj.animation_data.action if obj.animation_data else None


def _own_range(obj: bpy.types.Object, action: bpy.types.Action | None) -> tuple[int, int]:
    """The frames that move the armature: of its Action, else of its NLA strips."""
    found = actions.frame_range(action, actions.slot_for(action, obj)) if action is not None else None
    if found is not None:
        return found
    strips = [s for t in obj.animation_data.nla_tracks if not t.mute for s in t.strips] if obj.animation_data else []
    if not strips and action is not None:
        raise RigError(f"Action '{action.name}' has no keys for '{obj.name}'", "Choose an Action that moves it")
    if not strips:
        raise RigError(f"Armature '{obj.name}' has no Action", "Give it one in the Action Editor, or set a frame range")
    return math.floor(min(s.frame_start for s in strips)), math.ceil(max(s.frame_end for s in strips) - 1e-3)


def _require_frames(obj: bpy.types.Object, first: int, last: int) -> None:
    """Refuse frames that Blender has not, before it is asked to go there."""
    for frame in (first, last):
        if abs(frame) > MOST_FRAMES:
            raise RigError(
                f"'{obj.name}' would be read at frame {frame}, and Blender's last is {MOST_FRAMES}",
                "Choose a shorter frame range, or delete the keys that lie so far out",
            )


def _tags(action: bpy.types.Action, places: Array) -> tuple[Tag, ...]:
    """Style tags from the Action's pose markers; see ``core.motion.marker_tags``."""
    found = []
    for one in parse_markers([(marker.name, marker.frame) for marker in action.pose_markers]):
        start = int(np.searchsorted(places, one.first))
        stop = len(places) if one.stop is None else int(np.searchsorted(places, one.stop))
        if start < stop:
            found.append(Tag(one.name, start, stop, one.is_proposal))
    return tuple(found)


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)
