# SPDX-License-Identifier: GPL-3.0-or-later
"""The door back into Blender: a ``Take`` becomes a new Action beside the old one.

Every bone is keyed once a frame in its own rotation mode. Everything else that the source Action
animates (the object itself, custom properties, constraint influences) is copied, so that the armature
stands and its drivers run as they did. The source Action is never changed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..core.errors import RigError
from ..core.geometry.quaternions import Array, conjugate, from_matrix, multiply, to_matrix
from ..core.motion import Take
from . import actions, nla
from .baked_copy import baked_copy, remove_copy
from .channels import basis_matrices, channel_values
from .rig_reader import RigMotion, rotation_of, world_matrices

PLACES = (
    ("AUTO", "Automatic", "On the armature, or on a baked copy where the rig's constraints would fight the keys"),
    ("ACTION", "New Action", "As the armature's active Action"),
    ("NLA", "NLA Strip", "As a strip on a new track; the source Action is kept on a muted track"),
    ("COPY", "Baked Copy", "On a copy of the armature and its meshes, without constraints"),
)

_BONE_CHANNEL = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(location|rotation_\w+|scale)$')


@dataclass(frozen=True)
class Written:
    """What was made: the Action, the object that it moves and where it went ('ACTION', 'NLA' or 'COPY').

    others, props: what was made with it of the same take, for the other characters and the loose things.
    """

    action: bpy.types.Action
    obj: bpy.types.Object
    where: str
    others: tuple["Written", ...] = ()
    props: tuple["Written", ...] = ()


def write_take(
    obj: bpy.types.Object,
    take: Take,
    rig: RigMotion,
    *,
    name: str,
    source_action: bpy.types.Action | None = None,
    where: str = "AUTO",
) -> Written:
    """Write the take as a new Action called ``name``; ``rig`` is what ``read_rig`` gave for its source."""
    require_writable(obj, take.motion.skeleton.names, where)
    if where == "AUTO":
        where = "COPY" if fights_keys(obj) else "ACTION"
    source = source_action or (obj.animation_data.action if obj.animation_data else None)
    target = baked_copy(obj, f"{obj.name} {name}") if where == "COPY" else obj
    action, slot, bag = actions.new_action(name, target)
    try:
        if source is not None and where != "COPY":
            _copy_other_curves(obj, source, bag, take, rig)
        pos, quat, stretch = _at_scene_frames(take, rig)
        with actions.playing(target, action):
            matrix_world = _matrix_world(target, rig.frame_start + np.arange(len(pos)))
        pose = _pose_matrices(matrix_world, pos / rig.metres_per_unit, quat, stretch)
        _key_bones(target, bag, take.motion.skeleton.names, pose, rig.frame_start)
        put(target, action, slot, source, where)
    except BaseException:
        bpy.data.actions.remove(action)
        if where == "COPY":
            remove_copy(target)
        raise
    return Written(action, target, where)


def require_writable(obj: bpy.types.Object, bones: Sequence[str], where: str = "AUTO") -> None:
    """Refuse what cannot be written, naming it and the fix."""
    if obj.library is not None and where != "COPY":
        raise RigError(
            f"Armature '{obj.name}' is linked from '{obj.library.filepath}' and cannot get a new Action",
            "Make a library override of it (Object > Library Override > Make), or put the result on a baked copy",
        )
    if where != "COPY":
        actions.require_no_tweak_mode(obj)
    missing = [name for name in bones if name not in obj.pose.bones]
    if missing:
        raise RigError(
            f"Armature '{obj.name}' has no bone '{missing[0]}', which the take moves",
            "Choose the armature that the take was made from",
        )


def fights_keys(obj: bpy.types.Object) -> bool:
    """Whether something on the rig would change a pose keyed on its bones: constraints, drivers, a mixed-in NLA."""
    if any(c.enabled and not c.mute for bone in obj.pose.bones for c in bone.constraints):
        return True
    data = obj.animation_data
    if data is None:
        return False
    if any(_BONE_CHANNEL.match(driver.data_path) and not driver.mute for driver in data.drivers):
        return True
    return data.action_blend_type != "REPLACE" or data.action_influence < 1.0


def _at_scene_frames(take: Take, rig: RigMotion) -> tuple[Array, Array, Array]:
    """World positions (T, B, 3) in metres, rotations (T, B, 4), stretches (T, B, 3, 3), one a scene frame."""
    motion = take.motion.resampled(rig.scene_fps)
    pos, quat = motion.world()
    if take.own_clock:  # no frame of the source could say how a bone is stretched
        return pos, quat, np.broadcast_to(np.eye(3), (*pos.shape, 3))
    times_s = take.source_time(np.arange(len(motion)) / rig.scene_fps)
    place = np.clip(times_s * rig.clip.fps, 0, len(rig.bone_stretch) - 1)
    low = place.astype(int)
    high = np.minimum(low + 1, len(rig.bone_stretch) - 1)
    part = (place - low)[:, None, None, None]
    order = [rig.clip.skeleton.index(name) for name in motion.skeleton.names]
    stretch = (rig.bone_stretch[low] * (1.0 - part) + rig.bone_stretch[high] * part)[:, order]
    return pos, quat, stretch


def _matrix_world(obj: bpy.types.Object, frames: Array) -> Array:
    """(T, 4, 4) where the object will stand at each frame, in Blender units."""
    scene = bpy.context.scene
    if _stays(obj):
        return world_matrices(scene, obj, frames[:1]).repeat(len(frames), axis=0)
    return world_matrices(scene, obj, frames)


def _stays(obj: bpy.types.Object) -> bool:
    """Whether nothing moves the object as a whole, whatever its bones do."""
    data = obj.animation_data
    if obj.parent is not None or len(obj.constraints) or (data is not None and (data.drivers or data.nla_tracks)):
        return False
    if data is None or data.action is None:
        return True
    curves = actions.curves_of(data.action, data.action_slot)
    return all(curve.data_path.startswith("pose.bones[") for curve in curves)


def _pose_matrices(matrix_world: Array, pos: Array, quat: Array, stretch: Array) -> Array:
    """(T, B, 4, 4) armature-space pose matrices: the inverse of what the reader does."""
    inverse = np.linalg.inv(matrix_world)
    object_quat = from_matrix(rotation_of(matrix_world[:, :3, :3]))
    pose = np.zeros((*pos.shape[:2], 4, 4))
    pose[..., 3, 3] = 1.0
    pose[..., :3, 3] = np.einsum("tij,tbj->tbi", inverse[:, :3, :3], pos) + inverse[:, None, :3, 3]
    pose[..., :3, :3] = to_matrix(multiply(conjugate(object_quat)[:, None], quat)) @ stretch
    return pose


def _key_bones(obj: bpy.types.Object, bag: Any, names: tuple[str, ...], pose: Array, first_frame: int) -> None:
    """Key every named bone so that it reaches ``pose`` (T, B, 4, 4)."""
    index = {name: i for i, name in enumerate(names)}
    for name, i in index.items():
        bone = obj.pose.bones[name]
        parent = index.get(bone.parent.name) if bone.parent is not None else None
        basis = basis_matrices(bone.bone, pose[:, i], None if parent is None else pose[:, parent])
        for channel, values in channel_values(bone, basis).items():
            path = bone.path_from_id(channel)
            for component in range(values.shape[1]):
                actions.add_curve(bag, path, component, name, first_frame, values[:, component])


def _copy_other_curves(obj: bpy.types.Object, source: bpy.types.Action, bag: Any, take: Take, rig: RigMotion) -> None:
    """Copy what the source animates besides its bones' transforms, in the take's time.

    A take with a clock of its own has it all as it is when the source begins.
    """

    def moved(frame: float) -> float:
        plain = rig.result_frame(frame)
        source_s = np.array((plain - rig.frame_start) / rig.scene_fps)
        return plain + float(take.take_time(source_s) - source_s) * rig.scene_fps

    for curve in actions.curves_of(source, actions.slot_for(source, obj)):
        if _BONE_CHANNEL.match(curve.data_path):
            continue
        if take.own_clock:
            value = np.array([curve.evaluate(rig.frame_start)])
            actions.add_curve(bag, curve.data_path, curve.array_index, obj.name, rig.frame_start, value)
        else:
            actions.copy_curve(bag, curve, moved)


def put(obj: Any, action: Any, slot: Any, source: Any, where: str) -> None:
    """Let the new Action move the object; nothing that moved it before gets lost."""
    actions.put_aside(obj)
    if where == "NLA":
        data = obj.animation_data or obj.animation_data_create()
        if source is not None and data.action == source:
            stash = data.nla_tracks.new()
            stash.name, stash.mute = source.name, True
            kept = stash.strips.new(source.name, int(source.frame_range[0]), source)
            kept.action_slot = actions.slot_for(source, obj)
        nla.add_strip(obj, action, slot)
    else:
        actions.assign(obj, action, slot)
    actions.keep_from_loss([source, action])
