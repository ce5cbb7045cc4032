# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that collide, tinted by mass."""

from functools import lru_cache

import numpy as np

from ..draw_list import DrawList
from ..frame_state import FrameState
from ..parts import PLAIN, Shapes
from ..solid_mesh import Floats

_CHOSEN = np.array([1.0, 1.0, 1.0])


def draw_body(state: FrameState, draw_list: DrawList) -> None:
    """Every character's body; the active bone's part is lighter."""
    own, shapes = state.scene.sinew_overlay, state.shapes
    if shapes is None:
        return
    active = tuple(shown.active for shown in state.characters) if own.joint else ()
    colors = _colors(shapes, own.tint, own.opacity, active)
    draw_list.solids.append(shapes.solids(state.pos, state.axes, state.characters[0].metres, colors))


@lru_cache(maxsize=4)
def _colors(shapes: Shapes, tint: str, opacity: float, active: tuple[int, ...]) -> Floats:
    """(S, 4). active: by character the link whose shapes are lighter, -1 for none; () for none of anybody."""
    colors = np.empty((len(shapes.holders), 4), dtype=np.float32)
    colors[:, :3] = shapes.tints if tint == "MASS" else PLAIN
    colors[:, 3] = opacity
    links = [start + link for start, link in zip(shapes.starts, active, strict=False) if link >= 0]
    chosen = np.isin(shapes.holders, links)
    colors[chosen, :3] = 0.45 * colors[chosen, :3] + 0.55 * _CHOSEN
    colors[chosen, 3] = min(1.0, opacity + 0.2)
    return colors
