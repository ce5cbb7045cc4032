# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a motion: a contact sheet (.png) or a film (.mp4), without a trace in the scene."""

from collections.abc import Sequence
from pathlib import Path

import bpy

from ...core.errors import CannotWrite
from ..mannequin.framing import spread_frames
from .film import film
from .sheet import contact_sheet
from .studio import VIEWS

__all__ = ["VIEWS", "contact_sheet", "film", "render"]

_TILES = 12


def render(
    scene: bpy.types.Scene,
    path: Path,
    frame_start: int,
    frame_end: int,
    subjects: Sequence[bpy.types.Object],
    view: str = "AUTO",
) -> None:
    """What the path's ending asks for: a contact sheet of twelve frames, or a film, of the frames both included."""
    suffix = path.suffix.lower()
    if suffix == ".png":
        contact_sheet(scene, path, spread_frames(frame_start, frame_end, _TILES), subjects, view=view)
    elif suffix == ".mp4":
        film(scene, path, frame_start, frame_end, subjects, view=view)
    else:
        raise CannotWrite(f"Cannot make a preview called '{path.name}'", "End its name in .png or .mp4")
