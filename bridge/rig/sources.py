# SPDX-License-Identifier: GPL-3.0-or-later
"""What moved an object before its takes: kept with each take's Action, so that the source is what is read again.

A take keys every channel of what it moves. What its source does not key would be lost with it: a ball's place in the
scene, the pose of a character that stands. So both travel with the take's Action.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from ...core.files import parse_json
from . import actions

_SOURCE, _PLACED = "sinew_source", "sinew_placed"
_CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}

Channels = dict[str, list[float]]


@dataclass(frozen=True)
class PriorAnimation:
    """action: what moved the object, None for nothing. placed: its channels that the Action does not key, by path."""

    action: bpy.types.Action | None
    placed: Channels


def prior_animation(obj: bpy.types.Object) -> PriorAnimation:
    """What moves the object when no take does."""
    take, _ = active_take(obj)
    if take is not None:
        return _prior_of(take)
    action = obj.animation_data.action if obj.animation_data else None
    keyed = set()
    if action is not None:
        keyed = {curve.data_path for curve in actions.curves_of(action, actions.slot_for(action, obj))}
    return PriorAnimation(action, {path: values for path, values in _channels(obj).items() if path not in keyed})


def store_prior(take: bpy.types.Action, before: PriorAnimation) -> None:
    """Keep with a take's Action what its object was moved by."""
    if before.action is not None:
        take[_SOURCE] = before.action
    take[_PLACED] = json.dumps(before.placed)


def is_take(action: bpy.types.Action) -> bool:
    """Whether the Action is a take, which knows what its object was moved by before."""
    return _PLACED in action


def source_action(take: bpy.types.Action) -> bpy.types.Action | None:
    """The Action that a take was made from, None where there was none or it was deleted."""
    return _prior_of(take).action


def _prior_of(take: bpy.types.Action) -> PriorAnimation:
    """What is kept with a take; anybody can write there, so that only channels of motion are believed."""
    source, text = take.get(_SOURCE), take.get(_PLACED, "{}")
    try:
        placed = parse_json(text) if isinstance(text, str) else {}
    except ValueError:
        placed = {}
    known = placed.items() if isinstance(placed, dict) else ()
    channels = {path: values for path, values in known if _is_channel(path) and _are_numbers(values)}
    return PriorAnimation(source if isinstance(source, bpy.types.Action) else None, channels)


def _is_channel(path: str) -> bool:
    holder, _, name = path.rpartition(".")
    own = not holder or (holder.startswith('pose.bones["') and holder.endswith('"]'))
    return _is_custom(path) or (own and name in _CHANNELS)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, float | int) for value in values)


def restore_prior(obj: bpy.types.Object, take: bpy.types.Action) -> None:
    """Let the object be moved as it was before this take from now on."""
    before = _prior_of(take)
    data = obj.animation_data or obj.animation_data_create()
    if before.action is not None:
        actions.assign(obj, before.action, actions.slot_for(before.action, obj))
    else:
        data.action = None
        for track in data.nla_tracks:
            if any(strip.action == take for strip in track.strips):
                track.mute = True
    _set(obj, before.placed)


def custom_values(obj: bpy.types.Object, paths: Iterable[str]) -> Channels:
    """The values of custom properties that are there, by RNA path."""
    found = {}
    for path in paths:
        owner, key = _custom(obj, path)
        if owner is not None and key in owner and isinstance(owner[key], bool | int | float):
            found[path] = [float(owner[key])]
    return found


def _is_custom(path: str) -> bool:
    return path.endswith('"]')


def _custom(obj: bpy.types.Object, path: str) -> tuple[Any, str]:
    """Who has a custom property, None if nobody, and what it is called."""
    holder, _, key = path.rpartition('["')
    try:
        owner = obj.path_resolve(holder) if holder else obj
    except ValueError:
        owner = None
    owner = owner if hasattr(owner, "keys") else None
    return owner, bpy.utils.unescape_identifier(key.removesuffix('"]'))


def set_custom(obj: bpy.types.Object, path: str, value: float) -> None:
    """Set a custom property by its RNA path, in its own type; not one that is gone."""
    owner, key = _custom(obj, path)
    if owner is None or key not in owner or not isinstance(owner[key], bool | int | float):
        return
    if owner[key] != value:
        owner[key] = type(owner[key])(value)
        obj.update_tag()


def rotation_channel(mode: str) -> str:
    """The name of the rotation channel that counts in this rotation mode."""
    return _ROTATIONS.get(mode, "rotation_euler")


@contextmanager
def without_takes(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Let the objects be moved as before their takes for a while; afterwards all is as it was."""
    with ExitStack() as stack:
        for obj in objects:
            take, track = active_take(obj)
            if take is not None:
                stack.enter_context(_without(obj, track))
        yield


def unassign_take(obj: bpy.types.Object) -> None:
    """Let the object be moved as before the take that moves it now, if one does, for good."""
    take, track = active_take(obj)
    if take is None:
        return
    before = prior_animation(obj)
    if track is not None:
        track.mute = True
    if before.action is None:
        obj.animation_data.action = None
    else:
        actions.assign(obj, before.action, actions.slot_for(before.action, obj))
    _set(obj, before.placed)


@contextmanager
def _without(obj: bpy.types.Object, track: Any | None) -> Iterator[None]:
    actions.require_no_tweak_mode(obj)
    data, placed = obj.animation_data, prior_animation(obj).placed
    shown = {**_channels(obj), **custom_values(obj, [path for path in placed if _is_custom(path)])}
    action, slot = data.action, data.action_slot.identifier if data.action_slot else None
    try:
        unassign_take(obj)
        yield
    finally:
        if track is not None:
            track.mute = False
        data.action = action
        if action is not None and slot is not None:
            data.action_slot = action.slots[slot]
        _set(obj, shown)


def active_take(obj: bpy.types.Object) -> tuple[bpy.types.Action | None, Any | None]:
    """The take that moves the object now, and the NLA track that plays it if it is not the active Action."""
    data = obj.animation_data
    if data is None:
        return None, None
    if data.action is not None:
        return (data.action, None) if _PLACED in data.action else (None, None)
    for track in reversed(data.nla_tracks):
        if not track.mute and len(track.strips):
            take = track.strips[0].action
            return (take, track) if take is not None and _PLACED in take else (None, None)
    return None, None


def _channels(obj: bpy.types.Object) -> Channels:
    """An armature's bones' own transforms, any other object's own, by path."""
    found = {}
    for holder in obj.pose.bones if obj.pose else (obj,):
        for name in ("location", rotation_channel(holder.rotation_mode), "scale"):
            found[holder.path_from_id(name)] = [float(value) for value in getattr(holder, name)]
    return found


def _set(obj: bpy.types.Object, channels: Channels) -> None:
    for path, values in channels.items():
        if _is_custom(path):
            set_custom(obj, path, values[0])
            continue
        holder, _, name = path.rpartition(".")
        try:
            owner = obj.path_resolve(holder) if holder else obj
        except ValueError:
            continue  # a bone that was renamed or deleted meanwhile
        own = list(getattr(owner, name))
        if own != values and len(own) == len(values):
            setattr(owner, name, values)
