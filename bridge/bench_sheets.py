# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact sheets for the pages that show what simulation and learned graphs are worth."""

from collections.abc import Sequence
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
_MEETING_TILES, _MEETING_COLUMNS, _MEETING_HEIGHT, _MEETING_BYTES = 15, 5, 200, 300_000


def sheet(path: Path, source: Clip, motion: Clip) -> None:
    """Ten moments of a take on the mannequin, its source in blue to the right of it; in place of the open scene."""
    scene = _empty_scene()
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


def meeting_sheet(path: Path, motions: Sequence[Clip], start_s: float, stop_s: float) -> None:
    """Characters together, from ``start_s`` to ``stop_s``, the second in blue; in place of the open scene."""
    scene = _empty_scene()
    made, fps = [], motions[0].fps
    for index, motion in enumerate(motions):
        colours = {"body_colour": SOURCE_COLOUR} if index else {}
        made.append(mannequin.build(scene, motion.skeleton, f"Character {index + 1}", **colours))
        show_clip(motion, made[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = spread(1 + round(start_s * fps), 1 + round(stop_s * fps), _MEETING_TILES)
    preview.contact_sheet(scene, path, frames, made, height=_MEETING_HEIGHT, columns=_MEETING_COLUMNS, view="FOLLOW")
    shrink(path, _MEETING_BYTES)


def _empty_scene() -> bpy.types.Scene:
    with quiet():
        bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene
    scene.render.dither_intensity = 0.0  # noise that only makes the file larger
    return scene
