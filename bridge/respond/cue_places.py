# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a cue's objects are at its frame, as far as that can be seen without going there."""

import bpy
import numpy as np

from ...core.geometry.quaternions import Array
from ..rig import actions

_ARM = 0.7  # metres that a hand or foot reaches out, about


def read_place(obj: bpy.types.Object, frame: float) -> Array:
    """(3,) Blender units: by the keys of its location where nothing else moves it, else where it is now."""
    place = np.array(obj.matrix_world.translation)
    action = obj.animation_data.action if obj.animation_data else None
    if action is None or obj.parent is not None or len(obj.constraints):
        return place
    for curve in actions.curves_of(action, actions.slot_for(action, obj)):
        if curve.data_path == "location":
            place[curve.array_index] = curve.evaluate(frame)
    return place


def find_ground(cue: bpy.types.PropertyGroup, here: Array, metres: float) -> Array | None:
    """(2,) about where a character that is at ``here`` (2,) is to stand for a cue; None for anywhere."""
    if cue.target is not None:
        return read_place(cue.target, cue.frame)[:2]
    if cue.hit is None:
        return None
    there = read_place(cue.hit, cue.frame)[:2]
    away = there - here
    return there - away / max(float(np.linalg.norm(away)), 1e-9) * _ARM / metres
