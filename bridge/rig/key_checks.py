# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that are not numbers: Blender makes a sound pose of some of them, so that nobody would know of it."""

import time

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import RigError
from ...core.geometry.quaternions import Array
from ...core.limits import LARGEST_UNITS
from . import actions
from .rest_bones import BONE_CHANNEL

_AT_ONCE = 200_000  # keys, which take some milliseconds


class KeyCheck:
    """Looks at the keys of everything that moves an armature's bones, curve by curve.

    Nothing of Blender's is held: curves are found anew by their places for each slice.
    """

    def __init__(self, places: Array) -> None:
        """places: (T,) scene frames that are read; an Action's keys beyond them are nobody's concern."""
        self._first, self._last = float(places[0]) - 1.0, float(places[-1]) + 1.0
        self._done = 0

    def advance(self, obj: bpy.types.Object, action: bpy.types.Action | None, seconds: float) -> bool:
        """Look on for about so long; True if everything was looked at. A bad key is a ``RigError`` that names it."""
        begun, looked = time.perf_counter(), 0
        curves = _curves_of(obj, action)
        while self._done < len(curves):
            curve, is_played = curves[self._done]
            self._check(obj, curve, is_played)
            self._done += 1
            looked += len(curve.keyframe_points)
            if looked > _AT_ONCE and time.perf_counter() - begun > seconds:
                break
        return self._done >= len(curves)

    def _check(self, obj: bpy.types.Object, curve: bpy.types.FCurve, is_played: bool) -> None:
        match = BONE_CHANNEL.match(curve.data_path)
        if match is None:
            return
        both = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", both)
        frames, values = both[::2], both[1::2]
        bad = are_unbelievable(values)
        if is_played:  # a strip's frames are elsewhere in the scene
            bad &= (frames >= self._first) & (frames <= self._last)
        if bad.any():
            raise bad_key(
                bpy.utils.unescape_identifier(match[1]), obj.name, float(frames[bad][0]), float(values[bad][0])
            )


def are_unbelievable(values: Array) -> NDArray[np.bool_]:
    """(K,) which values of keys are no numbers, or such as no pose is made of."""
    with np.errstate(invalid="ignore"):
        return np.asarray(~(np.abs(values) <= LARGEST_UNITS))


def bad_key(bone: str, armature: str, frame: float, value: float = float("nan")) -> RigError:
    """The error for a key that is not a number, or one beyond belief."""
    said = f"Bone '{bone}' of '{armature}' has a key that is not a number at frame {frame:g}"
    if np.isfinite(value):
        said = f"Bone '{bone}' of '{armature}' has a key of {value:.3g} at frame {frame:g}"
    return RigError(said, "Delete that key in the Graph Editor")


def _curves_of(obj: bpy.types.Object, action: bpy.types.Action | None) -> list[tuple[bpy.types.FCurve, bool]]:
    """Curves of the Action that is played, and of the strips, with whether it is the Action's."""
    data = obj.animation_data
    played = action or (data.action if data is not None else None)
    found = [(curve, True) for curve in actions.curves_of(played, actions.slot_for(played, obj))] if played else []
    for track in data.nla_tracks if data is not None and action is None else ():
        for strip in track.strips if not track.mute else ():
            if strip.action is not None:
                found += [(curve, False) for curve in actions.curves_of(strip.action, strip.action_slot)]
    return found
