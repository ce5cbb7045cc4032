# SPDX-License-Identifier: GPL-3.0-or-later
"""What a policy in training does by now, beside its character; and the take that is being made, where it will be."""

import numpy as np

from .. import live_previews
from ..draw_list import DrawList
from ..frame_state import FrameState
from ..streams import draw_streams

_COLOR = np.array([0.98, 0.62, 0.24, 0.45], dtype=np.float32)


def draw_live_preview(state: FrameState, draw_list: DrawList) -> None:
    """A body for every character that something is learned for or simulated.

    What is learned is on the side where the ghost of a source is not.
    """
    distance = state.scene.sinew_overlay.ghost_distance
    bodies = set[str]()
    for shown in state.characters:
        found = live_previews.preview_pose(shown)
        if found is None:
            continue
        bodies.add(shown.obj.name)
        pos, axes = found
        colors = np.tile(_COLOR, (len(shown.parts.holders), 1))
        far = 0.0 if live_previews.is_in_place(shown) else distance
        beside = pos - shown.parts.left * far / shown.metres
        draw_list.solids.append(shown.parts.solids(beside, axes, shown.metres, colors))
    draw_streams(state.scene, draw_list, bodies)
