# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of an armature that are keyed like any other, read frame by frame of a clip."""

from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np

from ..core.geometry.quaternions import Array
from . import actions
from .kept import scene_kept
from .rig_reader import RigMotion
from .rig_sampling import visible


def frames_of(rig: RigMotion) -> Array:
    """(T,) scene frames of the clip's frames, in the source's time."""
    step = rig.scene_fps / (rig.clip.fps * rig.time_stretch)
    frames: Array = rig.frame_start + np.arange(len(rig.clip)) * step
    return frames


def curves_below(obj: bpy.types.Object, prefix: str) -> Iterator[bpy.types.FCurve]:
    """F-curves that move properties whose paths begin so: of the object's Action and of its NLA strips."""
    data = obj.animation_data
    if data is None:
        return
    playing = [(data.action, data.action_slot)] if data.action is not None else []
    strips = [strip for track in data.nla_tracks for strip in track.strips if strip.action is not None]
    for action, slot in [*playing, *((strip.action, strip.action_slot) for strip in strips)]:
        yield from (curve for curve in actions.curves_of(action, slot) if curve.data_path.startswith(prefix))


def is_animated(obj: bpy.types.Object, prefix: str) -> bool:
    """Whether keys, a driver or an NLA strip move such properties of ``obj`` now."""
    data = obj.animation_data
    if data is None:
        return False
    return any(driver.data_path.startswith(prefix) for driver in data.drivers) or any(curves_below(obj, prefix))


def at_frames(obj: bpy.types.Object, frames: Array, read: Callable[[bpy.types.Object], Any]) -> Array:
    """What ``read`` says of the evaluated object at each of the scene's frames (T,), one row each."""
    scene, found = bpy.context.scene, []
    with visible(obj), scene_kept(scene):
        for frame in frames:
            whole = int(np.floor(frame + 1e-6))
            scene.frame_set(whole, subframe=max(float(frame - whole), 0.0))
            found.append(read(obj.evaluated_get(bpy.context.evaluated_depsgraph_get())))
    return np.array(found, dtype=float)
