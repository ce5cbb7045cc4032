# SPDX-License-Identifier: GPL-3.0-or-later
"""The source as a ghost beside its take: the same body, moved as the motion was before it was simulated."""

import numpy as np

from .. import ghosts
from ..draw_list import DrawList
from ..frame_state import FrameState

_COLOR = np.array([0.70, 0.76, 0.86, 0.28], dtype=np.float32)


def draw_ghost(state: FrameState, draw_list: DrawList) -> None:
    """A pale body for every character that plays a take."""
    distance = state.scene.sinew_overlay.ghost_distance
    for shown in state.characters:
        found = ghosts.ghost_pose(state, shown)
        if found is None:
            continue
        pos, axes, left = found
        colors = np.tile(_COLOR, (len(shown.parts.holders), 1))
        beside = pos + left * distance / shown.metres
        draw_list.solids.append(shown.parts.solids(beside, axes, shown.metres, colors))
