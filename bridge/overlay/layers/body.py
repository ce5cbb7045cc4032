# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that collide, tinted by mass."""

import numpy as np

from ..moment import Moment
from ..parts import PLAIN
from ..scenery import Scenery

_CHOSEN = np.array([1.0, 1.0, 1.0])


def draw_body(moment: Moment, scenery: Scenery) -> None:
    """Every character's body; the active bone's part is lighter."""
    own = moment.scene.sinew_overlay
    for shown in moment.characters:
        parts = shown.parts
        colors = np.empty((len(parts.holders), 4), dtype=np.float32)
        colors[:, :3] = parts.tints if own.tint == "MASS" else PLAIN
        colors[:, 3] = own.opacity
        chosen = parts.holders == shown.active
        if own.joint and chosen.any():
            colors[chosen, :3] = 0.45 * colors[chosen, :3] + 0.55 * _CHOSEN
            colors[chosen, 3] = min(1.0, own.opacity + 0.2)
        scenery.solids.append(parts.solids(shown.pos, shown.axes, shown.metres, colors))
