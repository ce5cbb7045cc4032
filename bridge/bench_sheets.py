# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact sheets of simulated stock clips beside their sources, for the page that shows what simulation is worth."""

from pathlib import Path

import bpy
import numpy as np

from ..core.motion import Clip
from . import mannequin, preview
from .importers import show_clip
from .mannequin.framing import THREE_QUARTER, spread
from .preview.palette import shrink
from .quiet import quiet

SOURCE_COLOUR = (0.10, 0.22, 0.42)  # linear RGB; the take has the mannequin's own
_BESIDE_M = 1.2
_TILES, _COLUMNS, _HEIGHT = 10, 5, 140
_MOST_BYTES = 150_000


def sheet(path: Path, source: Clip, motion: Clip) -> None:
    """Ten moments of a take on the mannequin, its source in blue to the right of it; in place of the open scene."""
    with quiet():
        bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.render.dither_intensity = 0.0  # noise that only makes the file larger
    wanted = mannequin.build(scene, source.skeleton, "Source", body_colour=SOURCE_COLOUR)
    made = mannequin.build(scene, motion.skeleton, "Take")
    show_clip(source, wanted)
    last = int(show_clip(motion, made).frame_range[1])
    side = THREE_QUARTER[0]
    wanted.location = _BESIDE_M * np.array([np.cos(side), np.sin(side), 0.0])
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = spread(1, last, _TILES)
    preview.contact_sheet(scene, path, frames, [made, wanted], height=_HEIGHT, columns=_COLUMNS, view="FOLLOW")
    shrink(path, _MOST_BYTES)
