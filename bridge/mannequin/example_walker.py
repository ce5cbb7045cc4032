# SPDX-License-Identifier: GPL-3.0-or-later
"""Someone to try Sinew on, out of nothing: the mannequin with a walk, beside whatever is in the scene."""

import functools
import threading
from dataclasses import replace

import bpy
import numpy as np
from mathutils import Vector

from ...core.motion import Take
from ...core.motion.plain_walk import plain_walk
from .. import mannequin
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import write_take
from . import figure

_CLEARANCE_M, _FLOOR_M = 1.0, 20.0

_walk = functools.lru_cache(maxsize=1)(plain_walk)


def prepare_in_background(scene: bpy.types.Scene) -> None:
    """Work out on a thread what a click would wait for and what needs no Blender: the mannequin's looks and walk."""
    fps = _fps(scene)
    threading.Thread(target=lambda: (figure.stock_parts(), _walk(fps=fps)), daemon=True, name="sinew mannequin").start()


def add_walker(scene: bpy.types.Scene) -> bpy.types.Object:
    """A mannequin that walks from the scene's first frame on, at the scene's own frame rate; returns its armature.

    It goes where nothing stands in its way. Nothing else in the scene is touched.
    """
    unit_m = scene.unit_settings.scale_length
    fps = _fps(scene)
    clip = _walk(fps=fps)
    x = _free_lane(scene, unit_m)
    armature = mannequin.build(scene)
    # A scene's unit may be anything; a character is as tall as it is.
    armature.scale = (1.0 / unit_m,) * 3
    armature.location.x = x / unit_m
    scene.view_layers[0].update()  # which need not be the one that is shown
    placed = clip.local_pos.copy()
    placed[:, 0, 0] += x
    clip = replace(clip, local_pos=placed)
    still = np.broadcast_to(np.eye(3, dtype=np.float32), (1, len(clip.skeleton), 3, 3))
    rig = RigMotion(clip, still, scene.frame_start, fps, unit_m)
    write_take(armature, Take(clip), rig, name=clip.name, where="ACTION")
    return armature


def motion_points(scene: bpy.types.Scene, armature: bpy.types.Object) -> np.ndarray:
    """(N, 3) where its bones are at the beginning, half way through and at the end, in the scene's own units."""
    first, last = armature.animation_data.action.frame_range
    points = []
    for frame in np.linspace(last, first, 3):  # the first one last, so that the scene ends there
        scene.frame_set(round(frame))
        ends = [end for bone in armature.pose.bones for end in (bone.head, bone.tail)]
        points += [armature.matrix_world @ end for end in ends]
    return np.array([tuple(point) for point in points])


def _fps(scene: bpy.types.Scene) -> float:
    return scene.render.fps / scene.render.fps_base


def _free_lane(scene: bpy.types.Scene, unit_m: float) -> float:
    """Metres along X of a lane parallel to Y that no object of the scene reaches into."""
    seen = [obj for obj in scene.objects if obj.type in ("MESH", "ARMATURE", "CURVE", "SURFACE", "FONT", "META")]
    corners = [obj.matrix_world @ Vector(corner) for obj in seen for corner in obj.bound_box]
    # What is as large as a floor is walked on, not around.
    reached = [corner.x * unit_m for corner in corners if abs(corner.x) * unit_m < _FLOOR_M]
    return max(reached) + _CLEARANCE_M if reached else 0.0
