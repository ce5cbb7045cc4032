# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches something in a simulated take: the floor pushes back where a part is lowest."""

import numpy as np

from ...takes import take_data
from ..draw_list import DrawList
from ..frame_state import FrameState

_COLOR = (0.30, 0.95, 0.45, 0.95)
_LENGTH_M, _THICKNESS_M = 0.22, 0.012


def draw_contacts(state: FrameState, draw_list: DrawList) -> None:
    """An arrow up and a disc for every part that touches; nothing where the Action is no take that knows."""
    for shown in state.characters:
        data = shown.obj.animation_data
        bones = take_data.bones_in_contact(data.action, state.frame) if data and data.action else None
        if not bones:
            continue
        links = sorted({shown.parts.body.link_of(bone) for bone in bones} - {-1})
        points = shown.parts.lowest(shown.pos, shown.axes, shown.metres)[links]
        size = _LENGTH_M / shown.metres
        up = np.tile([0.0, 0.0, size], (len(points), 1))
        draw_list.add_arrows(points + up, up, _THICKNESS_M / shown.metres, _COLOR)
        draw_list.add_balls(points, 0.04 / shown.metres, _COLOR, flat=0.1)
