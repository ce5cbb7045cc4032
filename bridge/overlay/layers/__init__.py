# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay can show: one layer a file. A layer adds solids, lines and triangles to the draw list.

A new one is a function here and a switch in ``SINEW_PG_overlay``.
"""

from collections.abc import Callable

from ..draw_list import DrawList
from ..frame_state import FrameState
from .balance import draw_balance
from .body import draw_body
from .bounds import draw_bounds
from .contacts import draw_contacts
from .cues import draw_cues
from .ghost import draw_ghost
from .joint import draw_joint
from .live_preview import draw_live_preview
from .pushes import draw_pushes

# Switch -> layer, from what lies behind to what lies in front.
LAYERS: dict[str, Callable[[FrameState, DrawList], None]] = {
    "ghost": draw_ghost,
    "cues": draw_cues,
    "rehearsal": draw_live_preview,
    "body": draw_body,
    "bounds": draw_bounds,
    "balance": draw_balance,
    "contacts": draw_contacts,
    "pushes": draw_pushes,
    "joint": draw_joint,
}


def draw_layers(state: FrameState) -> DrawList:
    """Everything that is switched on."""
    draw_list, switches = DrawList(), state.scene.sinew_overlay
    for switch, draw in LAYERS.items():
        if getattr(switches, switch):
            draw(state, draw_list)
    return draw_list
