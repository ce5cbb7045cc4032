# SPDX-License-Identifier: GPL-3.0-or-later
"""How much muscle a character has, frame by frame: ``object.sinew_body.muscle`` as it is keyed or driven."""

from collections.abc import Iterator

import bpy
import numpy as np

from ..core.control import muscle
from ..core.errors import RigError
from ..core.geometry.quaternions import Array
from . import actions, sources
from .kept import scene_kept
from .rig_reader import RigMotion, visible

PATH = "sinew_body.muscle"


def attachment_of(
    obj: bpy.types.Object, rig: RigMotion, action: bpy.types.Action | None, keys: muscle.Keys | None
) -> dict[str, tuple[dict[str, np.ndarray], dict[str, object]]]:
    """What travels with the job for ``core.control.muscle.muscle_of``; nothing where all of it is used throughout.

    action: what ``rig`` was read from, None for whatever moves the armature now. keys: said on the command line, in
    scene frames, None for what the armature says.
    """
    values = read_muscle(obj, rig, action) if keys is None else muscle.at_frames(keys, _frames(rig))
    return muscle.attachment(values, rig.clip.fps)


def read_muscle(obj: bpy.types.Object, rig: RigMotion, action: bpy.types.Action | None = None) -> Array:
    """(T,) the armature's muscle at each frame of the clip, as it is evaluated: keys, NLA and drivers."""
    frames = _frames(rig)
    own = getattr(obj, "sinew_body", None)
    if own is None:  # Sinew's properties are not registered
        return np.ones(len(frames))
    seen = _keyed_by(obj, action)
    if seen != action:  # a take's own time
        frames = rig.frame_start + (frames - rig.frame_start) * rig.time_stretch
    # Where another Action's keys move it now, its value is only what they left behind at this frame.
    steady = 1.0 if is_animated(obj) else own.muscle
    with actions.playing(obj, seen):
        values = _sampled(obj, frames) if is_animated(obj) else np.full(len(frames), steady)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise RigError(
            f"The muscle of '{obj.name}' is not a number at frame {frames[bad[0]]:g}", "Mend its keys or its driver"
        )
    return values


def is_animated(obj: bpy.types.Object) -> bool:
    """Whether keys, a driver or an NLA strip move the muscle of ``obj`` now."""
    data = obj.animation_data
    if data is None:
        return False
    return any(driver.data_path == PATH for driver in data.drivers) or any(_curves(obj))


def _curves(obj: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    data = obj.animation_data
    playing = [(data.action, data.action_slot)] if data.action is not None else []
    strips = [strip for track in data.nla_tracks for strip in track.strips if strip.action is not None]
    for action, slot in [*playing, *((strip.action, strip.action_slot) for strip in strips)]:
        yield from (curve for curve in actions.curves_of(action, slot) if curve.data_path == PATH)


def _keyed_by(obj: bpy.types.Object, action: bpy.types.Action | None) -> bpy.types.Action | None:
    """Whose keys count: those of the source, or of the take of it that shows, for those are what is being edited."""
    shown = obj.animation_data.action if obj.animation_data else None
    if action is None or shown in (None, action) or sources.before_of(obj).action != action:
        return action
    keyed = any(curve.data_path == PATH for curve in actions.curves_of(shown, actions.slot_for(shown, obj)))
    return shown if keyed else action


def _frames(rig: RigMotion) -> Array:
    """(T,) scene frames of the clip's frames, in the source's time."""
    step = rig.scene_fps / (rig.clip.fps * rig.time_stretch)
    frames: Array = rig.frame_start + np.arange(len(rig.clip)) * step
    return frames


def _sampled(obj: bpy.types.Object, frames: Array) -> Array:
    scene = bpy.context.scene
    values = np.empty(len(frames))
    with visible(obj), scene_kept(scene):
        for index, frame in enumerate(frames):
            whole = int(np.floor(frame + 1e-6))
            scene.frame_set(whole, subframe=max(float(frame - whole), 0.0))
            evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
            values[index] = evaluated.sinew_body.muscle
    return values
