# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions as they are from Blender 4.4 on: slots, layers, strips, channelbags."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ...core.errors import RigError
from ...core.motion.key_reduction import compute_slopes

_LINEAR, _BEZIER = 1, 2  # the numbers behind keyframe interpolations, for foreach_set
_ALIGNED = 3  # and behind the type of a handle
# What a key has besides its place, and that place: frame and value of itself and of its handles.
_KEY_KINDS = ("type", "interpolation", "easing", "handle_left_type", "handle_right_type")
_KEY_NUMBERS = ("amplitude", "back", "period")
_KEY_PLACES = ("co", "handle_left", "handle_right")
# Keyed, but not a motion: what an Action says about the body and its bounds does not make it longer.
_NO_MOTION = ("sinew_body.", "sinew_bound")


def slot_for(action: bpy.types.Action, obj: bpy.types.Object) -> Any | None:
    """The action's slot that moves ``obj``: the one in use, else the one of that name, else any object slot."""
    data = obj.animation_data
    if data is not None and data.action == action and data.action_slot is not None:
        return data.action_slot
    fitting = [slot for slot in action.slots if slot.target_id_type in {"OBJECT", "UNSPECIFIED"}]
    named = [slot for slot in fitting if slot.name_display == obj.name]
    return (named or fitting or [None])[0]


def curves_of(action: bpy.types.Action, slot: Any | None) -> list[bpy.types.FCurve]:
    """The F-curves of one slot over all layers."""
    if slot is None:
        return []
    found: list[bpy.types.FCurve] = []
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                found.extend(bag.fcurves)
    return found


def frame_range(action: bpy.types.Action, slot: Any | None) -> tuple[int, int] | None:
    """First and last whole frame of the slot's keys (or of the range set by hand), None without keys.

    Keys may sit between frames: it begins with the first whole one that is keyed, and nothing is lost at the end.
    Curves with a key at a frame that is no number count for nothing; who reads them says so (``require_frames``).
    """
    if action.use_frame_range:
        ranges = [(action.frame_start, action.frame_end)]
    else:
        keyed = [curve for curve in curves_of(action, slot) if len(curve.keyframe_points)]
        ranges = [curve.range() for curve in keyed if not curve.data_path.startswith(_NO_MOTION)]
    ranges = [(first, last) for first, last in ranges if math.isfinite(first) and math.isfinite(last)]
    if not ranges:
        return None
    first, last = min(r[0] for r in ranges), max(r[1] for r in ranges)
    return math.ceil(first - 1e-3), max(math.ceil(last - 1e-3), math.ceil(first - 1e-3))


def require_frames(action: bpy.types.Action, slot: Any | None) -> None:
    """Refuse an Action with a key at a frame that is no number, naming the channel."""
    for curve in curves_of(action, slot):
        if len(curve.keyframe_points) and not all(map(math.isfinite, curve.range())):
            raise RigError(
                f"Action '{action.name}' has a key of '{curve.data_path}' at a frame that is not a number",
                "Delete that key, or export the motion again",
            )


def new_action(name: str, obj: bpy.types.Object) -> tuple[bpy.types.Action, Any, Any]:
    """A new, empty Action with a slot for ``obj``: (action, slot, channelbag)."""
    action = bpy.data.actions.new(name)
    slot = action.slots.new(id_type="OBJECT", name=obj.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return action, slot, strip.channelbag(slot, ensure=True)


def add_curve(
    bag: Any, path: str, index: int, group: str, first_frame: int, values: np.ndarray, kept: np.ndarray | None = None
) -> None:
    """One key a frame from ``first_frame`` on, straight lines between them; values is (T,).

    kept: (K,) places of the only values that get a key, as ``choose_keys`` gives them, with curves between.
    """
    curve = bag.fcurves.new(path, index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    frames = first_frame + np.arange(len(values))
    points = curve.keyframe_points
    if kept is not None and len(kept) > 1:
        _add_smooth_keys(points, frames[kept], values[kept], compute_slopes(values)[kept])
        curve.update()
        return
    points.add(len(values))
    points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(len(values), _LINEAR, dtype=np.uint8))
    curve.update()


def _add_smooth_keys(points: Any, frames: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> None:
    """Keys (K,) with handles a third of the way to their neighbours: frames pass evenly, and curves are cubics."""
    third = np.diff(frames) / 3.0
    before, after = np.append(third[0], third), np.append(third, third[-1])
    points.add(len(frames))
    places = {
        "co": (frames, values),
        "handle_left": (frames - before, values - before * slopes),
        "handle_right": (frames + after, values + after * slopes),
    }
    points.foreach_set("interpolation", np.full(len(frames), _BEZIER, dtype=np.uint8))
    for name in ("handle_left_type", "handle_right_type"):
        points.foreach_set(name, np.full(len(frames), _ALIGNED, dtype=np.uint8))
    for name, columns in places.items():
        points.foreach_set(name, np.column_stack(columns).astype(np.float32).ravel())


def copy_curve(bag: Any, source: bpy.types.FCurve, moved: Callable[[np.ndarray], np.ndarray]) -> None:
    """A copy of a curve in another channelbag; ``moved`` gives the new frames for its frames (K,)."""
    curve = bag.fcurves.new(source.data_path, index=source.array_index)
    curve.extrapolation, curve.mute = source.extrapolation, source.mute
    old, new = source.keyframe_points, curve.keyframe_points
    new.add(len(old))
    for names, kind, size in ((_KEY_KINDS, np.int32, 1), (_KEY_NUMBERS, np.float32, 1), (_KEY_PLACES, np.float32, 2)):
        for name in names:
            values = np.empty(size * len(old), dtype=kind)
            old.foreach_get(name, values)
            if size == 2:
                values[::2] = moved(values[::2].astype(float))
            new.foreach_set(name, values)
    for modifier in source.modifiers:
        copy = curve.modifiers.new(modifier.type)
        for prop in modifier.bl_rna.properties:
            if not prop.is_readonly and prop.identifier not in {"name", "active", "show_expanded"}:
                setattr(copy, prop.identifier, getattr(modifier, prop.identifier))
    curve.update()


@contextmanager
def play_temporarily(obj: bpy.types.Object, action: bpy.types.Action | None) -> Iterator[None]:
    """Let ``action`` move ``obj`` for a while; what moved it before comes back whatever happens."""
    data = obj.animation_data
    if action is None or (data is not None and data.action == action):
        yield
        return
    if data is None:
        data = obj.animation_data_create()
    require_no_tweak_mode(obj)
    before, slot_before = data.action, data.action_slot
    # A slot's handle does not survive being unassigned in every version; its identifier does.
    slot_name = slot_before.identifier if slot_before is not None else None
    try:
        assign(obj, action, slot_for(action, obj))
        yield
    finally:
        data.action = before
        if before is not None and slot_name is not None:
            data.action_slot = before.slots[slot_name]


def assign(obj: bpy.types.Object, action: bpy.types.Action, slot: Any | None) -> None:
    """Make the action and slot the ones that move ``obj``."""
    data = obj.animation_data or obj.animation_data_create()
    data.action = action
    if slot is not None:
        data.action_slot = slot


def require_no_tweak_mode(obj: bpy.types.Object) -> None:
    """Blender locks an object's Action while one of its NLA strips is being tweaked."""
    if obj.animation_data is not None and obj.animation_data.use_tweak_mode:
        raise RigError(f"'{obj.name}' is in NLA tweak mode", "Leave it with Tab in the Nonlinear Animation editor")


def add_fake_users(actions: Sequence[bpy.types.Action | None]) -> None:
    """An Action that nothing uses is dropped when the file is saved: give it a fake user."""
    for action in actions:
        if action is not None and action.library is None and not action.use_fake_user and action.users < 2:
            action.use_fake_user = True


def protect_current_action(obj: bpy.types.Object) -> None:
    """See to it that the object's Action, which is about to be replaced, is not lost by that."""
    if obj.animation_data is not None:
        add_fake_users([obj.animation_data.action])
