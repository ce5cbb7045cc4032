# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body is fitted to, read from the scene: the motion, a few frames of it, and the mesh.

Reading changes the scene's frame for a moment, so it is never done while something is drawn, played or dragged. It is
done in slices, and what needs no Blender on a thread, so that the interface stays responsive.
"""

import math
from dataclasses import dataclass

import bpy
import numpy as np

from ...core.motion import Clip, Skeleton
from ..rig import actions, sources
from ..rig.rig_reader import read_rig_in_slices
from ..scene import time_slicing
from ..scene.sliced_reading import DatablockRef
from ..scene.time_slicing import Slices
from .body_inputs import WornMesh, read_worn_mesh_in_slices

MOST_FRAMES = 48
"""What joint axes and limits are told from: evenly spread over the motion, so that a long one costs no more."""

SLICE_S = 0.5 * time_slicing.SLICE_S
"""Half of the usual slice: nobody waits for the overlay, so it should disturb even less."""

Signature = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class FitInputs:
    """clip: None where nothing moves the armature."""

    skeleton: Skeleton
    clip: Clip | None
    mesh: WornMesh | None


def fit_signature(scene: bpy.types.Scene, obj: bpy.types.Object) -> Signature:
    """What a reading depends on, cheap enough for every redraw: bones, scale, units, motion, and whether to fit a mesh.

    What was done to the mesh itself is not looked at.
    """
    action = motion_action(scene, obj)
    return (
        hash_bones(obj),
        tuple(round(abs(value), 4) for value in obj.scale),
        scene.sinew.scale * scene.unit_settings.scale_length,
        action.session_uid if action is not None else 0,
        obj.sinew_body.use_mesh,
        obj.sinew_body.given,
    )


def hash_bones(obj: bpy.types.Object) -> int:
    """A number that another rest pose, or other names, would not have."""
    bones = obj.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    return hash((matrices.tobytes(), *bones.keys()))


def motion_action(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Action | None:
    """The Action that would be simulated: the chosen one, or what moves the armature, or the source of that take."""
    chosen = scene.sinew
    if chosen.armature == obj and chosen.action is not None:
        return chosen.action
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and sources.is_take(action):
        return sources.source_action(action)
    return action


def read_fit_inputs(scene: bpy.types.Scene, obj: bpy.types.Object, *, slice_s: float = SLICE_S) -> Slices[FitInputs]:
    """Read motion and mesh; refuses with a ``SinewError`` what a job would refuse too."""
    action, frames, fps = motion_action(scene, obj), None, None
    scene_fps = scene.render.fps / scene.render.fps_base
    if action is not None:
        frames = actions.frame_range(action, actions.slot_for(action, obj))
    moves = frames is not None and frames[1] > frames[0]
    if not moves:
        frames, action = (scene.frame_current, scene.frame_current + 1), None
    elif frames is not None and frames[1] - frames[0] > MOST_FRAMES:
        fps = scene_fps / math.ceil((frames[1] - frames[0]) / MOST_FRAMES)  # whole frames can be read from keys
    armature, source = DatablockRef("objects", obj), DatablockRef("actions", action)
    use_mesh = obj.sinew_body.use_mesh and not obj.sinew_body.given
    rig = yield from read_rig_in_slices(obj, action, frames, fps, scene.sinew.scale, slice_s=slice_s)
    mesh = None
    if use_mesh:
        mesh = yield from read_worn_mesh_in_slices(armature.resolve(), rig, source.resolve(), slice_s=slice_s)
    return FitInputs(rig.clip.skeleton, rig.clip if moves else None, mesh)
