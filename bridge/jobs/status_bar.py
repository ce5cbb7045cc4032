# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs, at the bottom of the window, wherever the sidebar is."""

from collections.abc import Sequence

import bpy

from ..scene.report_lines import fit_line
from . import monitor, preparing
from .job_views import JobView

_LONGEST = 28


def text_of(views: Sequence[JobView]) -> tuple[str, float] | None:
    """What to say of the jobs and how full the bar is, 0 to 1; None if nothing runs."""
    alive = [view for view in views if view.alive]
    if not alive:
        return None
    first = min(alive, key=lambda view: (view.paused, view.id))
    waiting = sum(view.queued for view in views)
    more = [f"{len(alive) - 1} more"] if len(alive) > 1 else []
    more += [f"{waiting} waiting"] if waiting else []
    return "  ·  ".join([f"{_short(first.title)}  {first.text}", *more]), first.fraction


def _short(title: str) -> str:
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…"


def _draw(self: bpy.types.Header, context: bpy.types.Context) -> None:
    reading = preparing.preparation_views()
    said = (f"{_short(reading[0].title)}  {reading[0].text}", reading[0].fraction) if reading else None
    said = said or text_of(monitor.watched_jobs())
    if said is not None:
        row = self.layout.row()
        row.ui_units_x = 16
        row.progress(text=fit_line(said[0]), factor=said[1])


def register() -> None:
    """Add to Blender's status bar."""
    bpy.types.STATUSBAR_HT_header.append(_draw)


def unregister() -> None:
    """Leave it as it was."""
    bpy.types.STATUSBAR_HT_header.remove(_draw)
