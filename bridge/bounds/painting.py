# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds painted around a hard moment: keys that make them wider or tighter there, easing in and out."""

import bpy
import numpy as np

from ...core.errors import BoundsError
from ...core.geometry.quaternions import Array
from ..rig import actions, sources
from .properties import FACTOR, PREFIX

# What is painted: the paths and components of what is keyed. The numbers stand in files.
KINDS = (
    ("ALL", "All", "All bounds together, by their room", 0),
    ("COM", "Centre of Mass", "The centre of mass alone", 1),
    ("ROOT", "Root", "The root's orientation alone", 2),
    ("JOINTS", "Joints", "The joints alone", 3),
    ("EFFECTORS", "End Effectors", "The end effectors alone", 4),
)
_PATHS = {
    "ALL": ((FACTOR, -1),),
    "COM": tuple(("sinew_bounds.com", axis) for axis in range(3)),
    "ROOT": (("sinew_bounds.root", -1),),
    "JOINTS": (("sinew_bounds.joints", -1),),
    "EFFECTORS": (("sinew_bounds.effectors", -1),),
}
_SAME = 0.01  # frames within which two keys are one


def why_not(obj: bpy.types.Object, frame: float) -> str:
    """Why nothing can be painted at a frame, with the fix; '' if it can. Cheap enough for ``draw``."""
    data = obj.animation_data
    action = data.action if data else None
    if action is None:
        return f"'{obj.name}' has no Action that keys could live in: give it one in the Action Editor"
    if data.use_tweak_mode:
        return f"'{obj.name}' is in NLA tweak mode: leave it with Tab in the Nonlinear Animation editor"
    if sources.is_take(action):
        return "A take is shown, and bounds belong to its source: show that (Takes > Source)"
    if action.library is not None:
        return f"Action '{action.name}' is linked: make a local copy of it"
    ends = actions.frame_range(action, actions.slot_for(action, obj))
    if ends is None:
        return f"Action '{action.name}' has no keys for '{obj.name}': choose one that moves it"
    if not ends[0] <= frame <= ends[1]:
        return f"Frame {frame:g} is outside of Action '{action.name}': go to one from {ends[0]} to {ends[1]}"
    return ""


def paint(obj: bpy.types.Object, frame: float, frames: int, amount: float, what: str = "ALL") -> None:
    """Multiply bounds by ``amount`` at a frame, easing in and out over so many ``frames`` before and after it.

    Keys that are there stay, and are multiplied like all else: who paints twice has it twice. The caller owns the undo
    step.
    """
    if reason := why_not(obj, frame):
        message, _, hint = reason.partition(": ")
        raise BoundsError(message, hint[:1].upper() + hint[1:])
    action = obj.animation_data.action
    first, last = actions.frame_range(action, actions.slot_for(action, obj))
    for path, index in _PATHS[what]:
        curve = curve_of(obj, path, index)
        if curve is None:
            obj.keyframe_insert(path, index=index, frame=frame)
            curve = curve_of(obj, path, index)
        _paint(curve, frame, frames, amount, (first, last))
        _show(obj, path, index, curve.evaluate(bpy.context.scene.frame_current_final))


def clear_bound_keys(obj: bpy.types.Object) -> int:
    """Take all keys of bounds out of the armature's Action; widths stay as they are now. Gives how many curves."""
    action, gone = obj.animation_data.action, 0
    slot = actions.slot_for(action, obj)
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            own = [curve for curve in bag.fcurves if curve.data_path.startswith(PREFIX)] if bag else []
            for curve in own:
                bag.fcurves.remove(curve)
            gone += len(own)
    obj.sinew_bounds.factor = 1.0  # what was painted is gone
    return gone


def is_keyed(obj: bpy.types.Object, *, widths: bool = False) -> bool:
    """Whether the armature's Action keys bounds; widths: or only their room. Cheap enough for ``draw``."""
    data = obj.animation_data
    if data is None or data.action is None:
        return False
    curves = actions.curves_of(data.action, actions.slot_for(data.action, obj))
    return any(curve.data_path.startswith(PREFIX) and not (widths and curve.data_path == FACTOR) for curve in curves)


def curve_of(obj: bpy.types.Object, path: str, index: int = -1) -> bpy.types.FCurve | None:
    """The curve of the armature's Action for a property; index: its component, -1 for a single number."""
    action = obj.animation_data.action
    for curve in actions.curves_of(action, actions.slot_for(action, obj)):
        if curve.data_path == path and curve.array_index == max(index, 0):
            return curve
    return None


def forget_part(obj: bpy.types.Object, index: int) -> None:
    """Let the keys of later parts follow when a line of the list goes; those of the line itself go with it."""
    data = obj.animation_data
    if data is None or data.action is None:
        return
    slot = actions.slot_for(data.action, obj)
    for layer in data.action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            for curve in list(bag.fcurves) if bag else ():
                place, tail = _part_path(curve.data_path)
                if place == index:
                    bag.fcurves.remove(curve)
                elif place > index:
                    curve.data_path = f"sinew_bound_parts[{place - 1}]{tail}"


def _part_path(path: str) -> tuple[int, str]:
    """Which line of the list a path is about, and the rest of it; -1 for none."""
    head, _, rest = path.partition("sinew_bound_parts[")
    number, _, tail = rest.partition("]")
    return (int(number), tail) if not head and number.isdigit() else (-1, "")


def _paint(curve: bpy.types.FCurve, frame: float, frames: int, amount: float, ends: tuple[int, int]) -> None:
    wanted = np.clip([frame - frames, frame, frame + frames], *ends)
    there = [point.co.x for point in curve.keyframe_points if abs(point.co.x - frame) < frames]
    places = _apart([*wanted, *there])
    values = [curve.evaluate(place) for place in places]
    for place, value, bump in zip(places, values, bump_of((places - frame) / frames), strict=True):
        point = curve.keyframe_points.insert(place, value * amount**bump)
        point.interpolation = "BEZIER"
        point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
    curve.update()


def bump_of(distance: Array) -> Array:
    """1 at 0, easing to 0 at -1 and 1."""
    near = np.clip(1.0 - np.abs(distance), 0.0, 1.0)
    return np.asarray(near * near * (3.0 - 2.0 * near))


def _apart(frames: list[float]) -> Array:
    """The frames in their order, without those that are nearly another."""
    found: list[float] = []
    for frame in sorted(map(float, frames)):
        if not found or frame - found[-1] > _SAME:
            found.append(frame)
    return np.array(found)


def _show(obj: bpy.types.Object, path: str, index: int, value: float) -> None:
    """Let the property be at once what its keys now say, without evaluating a frame, which forgets unkeyed poses."""
    owner, _, name = path.rpartition(".")
    group = obj.path_resolve(owner)
    if index < 0:
        setattr(group, name, value)
    else:
        getattr(group, name)[index] = value
