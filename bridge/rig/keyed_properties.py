# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of an armature that are keyed like any other, read frame by frame of a clip."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ...core.geometry.quaternions import Array
from ..scene.preserved_state import preserve_scene
from ..scene.sliced_reading import DatablockRef, ReadSteps, read_in_slices, require_same_scene
from ..scene.time_slicing import SLICE_S, Slices
from . import actions
from .rig_reader import RigMotion
from .rig_sampling import unhide

MUSCLE = "sinew_body.muscle"
"""The path of how much of its strength a character uses, which is keyed in the motion that is simulated."""


def scene_frames(rig: RigMotion) -> Array:
    """(T,) scene frames of the clip's frames, in the source's time."""
    step = rig.scene_fps / (rig.clip.fps * rig.time_stretch)
    frames: Array = rig.frame_start + np.arange(len(rig.clip)) * step
    return frames


def curves_with_prefix(obj: bpy.types.Object, prefix: str) -> Iterator[bpy.types.FCurve]:
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
    return any(driver.data_path.startswith(prefix) for driver in data.drivers) or any(curves_with_prefix(obj, prefix))


def sample_property_in_slices(
    obj: bpy.types.Object,
    action: bpy.types.Action | None,
    frames: Array,
    read: Callable[[bpy.types.Object], Any],
    *,
    slice_s: float = SLICE_S,
) -> Slices[Array]:
    """The same in slices. action: what is to move the object meanwhile, None for what does now."""
    scene_uid = bpy.context.scene.session_uid
    known, playing = DatablockRef("objects", obj), DatablockRef("actions", action)

    @contextmanager
    def playing_source() -> Iterator[None]:
        scene, here = require_same_scene(scene_uid), known.resolve()
        with actions.play_temporarily(here, playing.resolve()), unhide(here), preserve_scene(scene):
            yield

    def rows() -> ReadSteps[Array]:
        found = []
        for frame in frames:
            whole = int(np.floor(frame + 1e-6))
            bpy.context.scene.frame_set(whole, subframe=max(float(frame - whole), 0.0))
            found.append(read(known.resolve().evaluated_get(bpy.context.evaluated_depsgraph_get())))
            yield
        return np.array(found, dtype=float)

    return (yield from read_in_slices(rows(), playing_source, slice_s))
