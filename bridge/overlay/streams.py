# SPDX-License-Identifier: GPL-3.0-or-later
"""The take that is being made, as lines along its bones: seen from the first moment on, with no body and no overlay."""

from collections.abc import Collection

import bpy
import numpy as np

from . import live_previews
from .draw_list import Color, DrawList

_COLOR: Color = (0.98, 0.62, 0.24, 0.9)
_JOINT_M = 0.02


def draw_streams(scene: bpy.types.Scene, draw_list: DrawList, but: Collection[str] = ()) -> None:
    """Bones of every character of a scene that a take is being made for; but: those by name that a body is drawn of."""
    if not live_previews.is_streaming():
        return
    metres = scene.sinew.scale * scene.unit_settings.scale_length
    for obj in scene.objects:
        if obj.type != "ARMATURE" or obj.name in but:
            continue
        points = live_previews.streamed_sticks(obj, metres)
        if points is not None:
            draw_list.add_lines(points, _COLOR)
            draw_list.add_balls(np.asarray(points[::2]), _JOINT_M / metres, _COLOR)
