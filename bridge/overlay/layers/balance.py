# SPDX-License-Identifier: GPL-3.0-or-later
"""The centre of mass, and where it is above the ground."""

import numpy as np

from ..draw_list import DrawList
from ..frame_state import FrameState

_COLOR = (1.0, 0.86, 0.25, 0.95)
_FAINT = (1.0, 0.86, 0.25, 0.6)
_RADIUS_M = 0.035


def draw_balance(state: FrameState, draw_list: DrawList) -> None:
    """A ball at the centre of mass, a line down from it, and a disc on the floor at height 0."""
    if state.shapes is None:
        return
    metres = state.characters[0].metres
    coms = state.shapes.coms(state.pos, state.axes, metres)
    feet = coms * [1.0, 1.0, 0.0]
    radius = _RADIUS_M / metres
    draw_list.add_balls(coms, radius, _COLOR)
    draw_list.add_balls(feet, 1.3 * radius, _FAINT, flat=0.04)
    draw_list.add_lines(np.concatenate([coms, feet], axis=1).reshape(-1, 3), _FAINT)
