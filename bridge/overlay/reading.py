# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body is fitted to, read from the scene: the motion, a few frames of it, and the mesh.

Reading changes the scene's frame for a moment, so it is never done while something is drawn, played or dragged.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.motion import Clip, Skeleton
from .. import actions, sources
from ..bodies import WornMesh, mesh_of
from ..rig_reader import read_rig

MOST_FRAMES = 48
"""What joint axes and limits are told from: evenly spread over the motion, so that a long one costs no more."""

Signature = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Reading:
    """clip: None where nothing moves the armature."""

    skeleton: Skeleton
    clip: Clip | None
    mesh: WornMesh | None


def signature_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> Signature:
    """What a reading depends on, cheap enough for every redraw: bones, scale, units, motion, and whether to fit a mesh.

    What was done to the mesh itself is not looked at.
    """
    action = motion_of(scene, obj)
    return (
        bones_of(obj),
        tuple(round(abs(value), 4) for value in obj.scale),
        scene.sinew.scale * scene.unit_settings.scale_length,
        action.session_uid if action is not None else 0,
        obj.sinew_body.use_mesh,
    )


def bones_of(obj: bpy.types.Object) -> int:
    """A number that another rest pose, or other names, would not have."""
    bones = obj.data.bones
    matrices = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", matrices)
    return hash((matrices.tobytes(), *bones.keys()))


def motion_of(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Action | None:
    """The Action that would be simulated: the chosen one, or what moves the armature, or the source of that take."""
    chosen = scene.sinew
    if chosen.armature == obj and chosen.action is not None:
        return chosen.action
    action = obj.animation_data.action if obj.animation_data else None
    if action is not None and sources.is_take(action):
        return sources.source_of(action)
    return action


def read(scene: bpy.types.Scene, obj: bpy.types.Object) -> Reading:
    """Read motion and mesh; refuses with a ``SinewError`` what a job would refuse too."""
    action, frames, fps = motion_of(scene, obj), None, None
    scene_fps = scene.render.fps / scene.render.fps_base
    if action is not None:
        frames = actions.frame_range(action, actions.slot_for(action, obj))
    moves = frames is not None and frames[1] > frames[0]
    if not moves:
        frames, action = (scene.frame_current, scene.frame_current + 1), None
    elif frames is not None and frames[1] - frames[0] > MOST_FRAMES:
        fps = scene_fps * MOST_FRAMES / (frames[1] - frames[0])
    rig = read_rig(obj, action=action, frames=frames, fps=fps, scale=scene.sinew.scale)
    mesh = mesh_of(obj, rig, action) if obj.sinew_body.use_mesh else None
    return Reading(rig.clip.skeleton, rig.clip if moves else None, mesh)


def is_busy() -> bool:
    """Whether something goes on that reading would disturb: playback, or a drag or another modal operator."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        if window.screen.is_animation_playing or len(getattr(window, "modal_operators", ())):
            return True
    return False
