# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes on the bones that they act on."""

import bpy
import numpy as np

from ..draw_list import Color, DrawList
from ..frame_state import FrameState, ShownCharacter

_COLOR: Color = (1.0, 0.35, 0.25, 0.95)
_FAINT: Color = (1.0, 0.35, 0.25, 0.3)
_METRES_A_NEWTON = 0.5 / 200.0
_LONGEST_M, _THICKNESS_M = 1.5, 0.018


def draw_pushes(state: FrameState, draw_list: DrawList) -> None:
    """An arrow that ends at the pushed part, as long as it is strong; faint while it does not push."""
    for obj in state.pushes:
        shown = _whom(state, obj)
        if shown is None:
            continue
        push = obj.evaluated_get(state.depsgraph)
        way = np.array(push.matrix_world)[:3, 2]
        length = float(np.linalg.norm(way))
        if length < 1e-9:
            continue
        reach = min(push.sinew.force * _METRES_A_NEWTON, _LONGEST_M) / shown.metres
        link = max(shown.parts.body.link_of(obj.sinew.bone), 0)
        centre = shown.pos[link] + shown.axes[link] @ shown.parts.body.links[link].com / shown.metres
        color = _COLOR if _acts(state, obj) else _FAINT
        draw_list.add_arrows(centre[None], way[None] / length * reach, _THICKNESS_M / shown.metres, color)


def _whom(state: FrameState, obj: bpy.types.Object) -> ShownCharacter | None:
    """The character that is pushed, where it is shown."""
    wanted = obj.sinew.armature or state.scene.sinew.armature
    return next((shown for shown in state.characters if shown.obj == wanted), None)


def _acts(state: FrameState, obj: bpy.types.Object) -> bool:
    render = state.scene.render
    ends = obj.sinew.start_frame + obj.sinew.duration * render.fps / render.fps_base
    return obj.sinew.start_frame <= state.frame < max(ends, obj.sinew.start_frame + 1)
