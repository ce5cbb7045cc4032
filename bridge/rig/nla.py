# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions as strips of an object's NLA."""

from typing import Any

import bpy

from . import actions

_TRANSFORMS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


def add_strip(obj: bpy.types.Object, action: bpy.types.Action, slot: Any) -> Any:
    """A strip on a new track above all others that plays the Action's bones where they were keyed.

    The object's own Action makes way, because it would be played over the strip. Outside the strip's frames
    what lies below shows as before; with nothing below, the strip's ends last.
    """
    data = obj.animation_data or obj.animation_data_create()
    identifier = slot.identifier  # the slot's handle does not survive being unassigned in every version
    data.action = None
    slot = action.slots[identifier]
    end_solo(obj)
    data.use_nla = True
    alone = not any(not track.mute and any(not s.mute for s in track.strips) for track in data.nla_tracks)
    track = data.nla_tracks.new()
    track.name = action.name
    first, last = _bone_frames(action, slot)
    strip = track.strips.new(action.name, round(first), action)
    strip.action_slot = slot
    if (strip.action_frame_start, strip.action_frame_end) != (first, last):
        # Something besides the bones is keyed beyond their frames: Blender would start the strip with that.
        strip.use_sync_length = False
        strip.action_frame_start, strip.action_frame_end = first, last
        strip.frame_start, strip.frame_end = first, last
    strip.extrapolation = "HOLD" if alone else "NOTHING"
    return strip


def play_strip(obj: bpy.types.Object, action: bpy.types.Action, slot: Any) -> Any:
    """Let the NLA play the Action, by the strip that it has there or a new one; gives that."""
    data = obj.animation_data
    placed = [(track, strip) for track in data.nla_tracks for strip in track.strips] if data else []
    for track, strip in placed:
        if strip.action == action:
            data.action = None
            end_solo(obj)
            data.use_nla = True
            track.mute = strip.mute = False
            return strip
    return add_strip(obj, action, slot)


def end_solo(obj: bpy.types.Object) -> None:
    """Let all of the object's tracks and its own Action play: a solo track silences them."""
    for track in obj.animation_data.nla_tracks:
        if track.is_solo:
            track.is_solo = False


def _bone_frames(action: bpy.types.Action, slot: Any) -> tuple[float, float]:
    """First and last frame in which a bone is moved by keys; of all keys where none is."""
    curves = [curve for curve in actions.curves_of(action, slot) if len(curve.keyframe_points)]
    moving = [curve for curve in curves if _moves_bone(curve.data_path)]
    ranges = [curve.range() for curve in moving or curves]
    if not ranges:
        return tuple(action.frame_range)
    return min(r[0] for r in ranges), max(r[1] for r in ranges)


def _moves_bone(path: str) -> bool:
    holder, _, name = path.rpartition(".")
    return holder.startswith("pose.bones[") and ".constraints[" not in holder and name in _TRANSFORMS
