# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of an armature that are keyed like any other, read frame by frame of a clip."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ...core.geometry.quaternions import Array
from ..scene.preserved_state import scene_kept
from ..scene.time_slicing import PIECE_S, Steps, at_once
from ..scene.visits import Reads, Remembered, in_visits, still_open
from . import actions
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
    return at_once(at_frames_in_pieces(obj, None, frames, read, piece_s=float("inf")))


def at_frames_in_pieces(
    obj: bpy.types.Object,
    action: bpy.types.Action | None,
    frames: Array,
    read: Callable[[bpy.types.Object], Any],
    *,
    piece_s: float = PIECE_S,
) -> Steps[Array]:
    """The same, a little at a time. action: what is to move the object meanwhile, None for what does now."""
    scene_uid = bpy.context.scene.session_uid
    known, playing = Remembered("objects", obj), Remembered("actions", action)

    @contextmanager
    def visit() -> Iterator[None]:
        scene, here = still_open(scene_uid), known.found()
        with actions.playing(here, playing.found()), visible(here), scene_kept(scene):
            yield

    def rows() -> Reads[Array]:
        found = []
        for frame in frames:
            whole = int(np.floor(frame + 1e-6))
            bpy.context.scene.frame_set(whole, subframe=max(float(frame - whole), 0.0))
            found.append(read(known.found().evaluated_get(bpy.context.evaluated_depsgraph_get())))
            yield
        return np.array(found, dtype=float)

    return (yield from in_visits(rows(), visit, piece_s))
