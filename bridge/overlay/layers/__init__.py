# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay can show: one layer a file. A layer adds to the scenery what it has to say about the moment.

A new one is a function here and a switch in ``SINEW_PG_overlay``.
"""

from collections.abc import Callable

from ..moment import Moment
from ..scenery import Scenery
from .balance import draw_balance
from .body import draw_body
from .bounds import draw_bounds
from .contacts import draw_contacts
from .ghost import draw_ghost
from .joint import draw_joint
from .pushes import draw_pushes
from .rehearsal import draw_rehearsal

# Switch -> layer, from what lies behind to what lies in front.
LAYERS: dict[str, Callable[[Moment, Scenery], None]] = {
    "ghost": draw_ghost,
    "rehearsal": draw_rehearsal,
    "body": draw_body,
    "bounds": draw_bounds,
    "balance": draw_balance,
    "contacts": draw_contacts,
    "pushes": draw_pushes,
    "joint": draw_joint,
}


def scenery_of(moment: Moment) -> Scenery:
    """Everything that is switched on."""
    scenery, switches = Scenery(), moment.scene.sinew_overlay
    for switch, draw in LAYERS.items():
        if getattr(switches, switch):
            draw(moment, scenery)
    return scenery
