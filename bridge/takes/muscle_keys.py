# SPDX-License-Identifier: GPL-3.0-or-later
"""Where muscle is keyed: in the motion that is simulated, whatever the armature shows, never in a take of it.

Blender's own key goes into the Action that moves the armature. While that is a take, the key would say nothing: what is
simulated again is the take's source. Such keys are noticed, and can be moved there.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.errors import RigError
from ...core.geometry.quaternions import Array
from ...core.sim.stage_parts import Finding
from ..rig import actions, sources
from ..rig.keyed_properties import MUSCLE
from .take_data import source_frame

_NEAR = 1e-3  # two keys are one if their frames and values are nearer than this


@dataclass(frozen=True)
class MuscleKeysView:
    """What the panel says of the keys.

    source: the Action that they are kept in, '' for none yet. keyed: whether it has any. here: whether one of them is
    at this frame. value: what they say at this frame. elsewhere: whether another Action moves the armature now.
    stray: the take that shows and has keys of its own, '' for none.
    """

    source: str
    keyed: bool
    here: bool
    value: float
    elsewhere: bool
    stray: str


def view_muscle_keys(obj: bpy.types.Object, chosen: bpy.types.Action | None, frame: float) -> MuscleKeysView:
    """What is keyed, cheap enough for ``draw``. chosen: the Action to simulate, None for what moves the armature."""
    source, stray = muscle_source(obj, chosen), stray_take(obj)
    curve = _muscle_curve(source, obj) if source is not None else None
    shown = obj.animation_data.action if obj.animation_data else None
    at = _source_frame(obj, source, frame)
    return MuscleKeysView(
        source=source.name if source else "",
        keyed=curve is not None,
        here=curve is not None and at is not None and bool(np.any(np.abs(_keys(curve)[:, 0] - at) < _NEAR)),
        value=float(curve.evaluate(frame if at is None else at)) if curve is not None else obj.sinew_body.muscle,
        elsewhere=source is not None and source != shown,
        stray=stray.name if stray else "",
    )


def muscle_source(obj: bpy.types.Object, chosen: bpy.types.Action | None) -> bpy.types.Action | None:
    """The Action whose keys count: the chosen one, else what moves the armature when no take does."""
    if chosen is not None:
        return chosen
    take, _ = sources.active_take(obj)
    if take is not None:
        return sources.source_action(take)
    return obj.animation_data.action if obj.animation_data else None


def key_muscle(obj: bpy.types.Object, chosen: bpy.types.Action | None, frame: float, *, remove: bool = False) -> str:
    """Key the armature's muscle as its field says at a frame of what shows, or remove the key that is there."""
    source, (take, _) = muscle_source(obj, chosen), sources.active_take(obj)
    if source is None and take is not None:
        raise RigError(f"No Action moves '{obj.name}' without '{take.name}'", "Show the source first: Takes > Source")
    if source is not None and not source.is_editable:
        raise RigError(f"Action '{source.name}' is linked from another file", "Make it local, or choose another")
    at = _source_frame(obj, source, frame)
    if at is None:
        raise RigError(
            f"'{take.name}' has a time of its own, so that this frame is none of '{source.name}'",
            "Show the source first: Takes > Source",
        )
    with actions.play_temporarily(obj, source):
        done = (obj.keyframe_delete if remove else obj.keyframe_insert)(MUSCLE, frame=at)
        own = source or obj.animation_data.action
    if not done:
        raise RigError(f"Muscle has no key at frame {at:g} of '{own.name}'", "Go to a frame that has one")
    said = "no longer keyed" if remove else f"{obj.sinew_body.muscle:.0%}"
    return f"Muscle is {said} at frame {at:g} of '{own.name}'"


def stray_take(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The take that shows, if muscle is keyed in it otherwise than in its source; copies of those keys are none."""
    take, _ = sources.active_take(obj)
    curve = _muscle_curve(take, obj) if take is not None else None
    if curve is None:
        return None
    source = sources.source_action(take)
    theirs = _muscle_curve(source, obj) if source is not None else None
    if theirs is None:
        return take
    mine, known = _moved_keys(take, _keys(curve)), _keys(theirs)
    return None if mine.shape == known.shape and np.allclose(mine, known, atol=0.01) else take


def find_stray_keys(obj: bpy.types.Object) -> tuple[Finding, ...]:
    """That keys of the take which shows do not count, and what to do about them."""
    take = stray_take(obj)
    if take is None:
        return ()
    message = f"Muscle is keyed in '{take.name}', which is a take: only keys of the motion that is simulated count"
    return (Finding("stray_muscle_keys", message, "Press Move Keys to Source below Muscle in the panel What"),)


def move_muscle_keys(obj: bpy.types.Object) -> str:
    """Let the source have the keys of the take that shows, in its own time, instead of those it has."""
    take = stray_take(obj)
    if take is None:
        raise RigError(f"No take of '{obj.name}' that shows has keys of muscle", "Key it with the key beside the field")
    source = sources.source_action(take)
    if source is None or not source.is_editable:
        why = "has no source any more" if source is None else f"was made from '{source.name}' of another file"
        raise RigError(f"'{take.name}' {why}", "Key the motion that is to be simulated")
    slot = actions.slot_for(source, obj)
    if slot is None:
        raise RigError(f"Action '{source.name}' has no slot for an armature", "Choose one that moves one")
    old, curve = _muscle_curve(source, obj), _muscle_curve(take, obj)
    bag = _bag_of(source, slot)
    if old is not None:
        _remove_curve(source, slot, old)
    actions.copy_curve(bag, curve, lambda frames: _moved_frames(take, frames))
    count = len(curve.keyframe_points)
    _remove_curve(take, actions.slot_for(take, obj), curve)
    return f"Moved {count} key{'' if count == 1 else 's'} of muscle from '{take.name}' to '{source.name}'"


def _source_frame(obj: bpy.types.Object, source: bpy.types.Action | None, frame: float) -> float | None:
    """The frame of the source that the armature shows at a frame of the scene; None where it shows none of its."""
    take, _ = sources.active_take(obj)
    if take is None or source is None or sources.source_action(take) != source:
        return frame
    return source_frame(take, frame)


def _muscle_curve(action: bpy.types.Action, obj: bpy.types.Object) -> bpy.types.FCurve | None:
    curves = actions.curves_of(action, actions.slot_for(action, obj))
    return next((curve for curve in curves if curve.data_path == MUSCLE and len(curve.keyframe_points)), None)


def _keys(curve: bpy.types.FCurve) -> Array:
    """(K, 2) frame and value of every key."""
    values = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", values)
    return values.reshape(-1, 2).astype(float)


def _moved_keys(take: bpy.types.Action, keys: Array) -> Array:
    return np.column_stack([_moved_frames(take, keys[:, 0]), keys[:, 1]])


def _moved_frames(take: bpy.types.Action, frames: Array) -> Array:
    """The source's frames for a take's; those of a take with a time of its own stay as they are."""
    found = [source_frame(take, float(frame)) for frame in frames]
    return np.array([frame if at is None else at for frame, at in zip(frames, found, strict=True)], dtype=float)


def _bag_of(action: bpy.types.Action, slot: object) -> object:
    layer = action.layers[0] if len(action.layers) else action.layers.new("Layer")
    strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def _remove_curve(action: bpy.types.Action, slot: object, curve: bpy.types.FCurve) -> None:
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None and curve in list(bag.fcurves):
                bag.fcurves.remove(curve)
                return
