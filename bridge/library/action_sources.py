# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature's Actions as sources of a library: known by their keys, so that a changed one is noticed unread."""

import time

import bpy
import numpy as np

from ...core.array_cache import compute_digest
from ..jobs.requests import find_action, find_armature
from ..rig import actions
from ..rig.rest_bones import rig_fingerprint
from ..scene.time_slicing import SLICE_S, Slices, run_all_slices

SOURCE = "Action "
"""What the source of a clip begins with that was read from an Action."""


def digest_in_slices(armature: str, name: str, scale: float, slice_s: float = SLICE_S) -> Slices[str]:
    """A digest of all that decides how an Action moves the armature, as far as its keys and bones tell.

    What constraints and drivers make of it is not in it, and neither are style tags, which change no motion.
    """
    rows: list[tuple[object, ...]] = []
    while True:
        obj, action = find_armature(armature), find_action(name)
        slot = actions.slot_for(action, obj)
        curves = actions.curves_of(action, slot)
        until = time.perf_counter() + slice_s
        while len(rows) < len(curves) and time.perf_counter() < until:
            rows.append(_describe_curve(curves[len(rows)]))
        if len(rows) >= len(curves):
            break
        yield None  # it may be edited meanwhile, and then it has changed anyway
    scene = bpy.context.scene
    rest, ways = rig_fingerprint(obj)
    rate = scene.render.fps, scene.render.fps_base, scene.unit_settings.scale_length, scale
    about = rest.hex(), repr(ways), rate, actions.frame_range(action, slot) or (), np.array(obj.matrix_world)
    digest: str = yield lambda: compute_digest(*about, rows)
    return digest


def digest_action(armature: str, name: str, scale: float) -> str:
    """The same here and now."""
    return run_all_slices(digest_in_slices(armature, name, scale, float("inf")))


def _describe_curve(curve: bpy.types.FCurve) -> tuple[object, ...]:
    points = curve.keyframe_points
    arrays = []
    for name in ("co", "handle_left", "handle_right"):
        values = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get(name, values)
        arrays.append(values)
    kinds = np.empty(len(points), dtype=np.int32)
    points.foreach_get("interpolation", kinds)
    more = tuple((modifier.type, modifier.mute) for modifier in curve.modifiers)
    return (curve.data_path, curve.array_index, curve.mute, curve.extrapolation, kinds, *arrays, more)
