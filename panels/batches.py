# SPDX-License-Identifier: GPL-3.0-or-later
"""A batch in the list of jobs: how far it is, and those of it that are worth a line."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

import bpy

from ..bridge.jobs.job_views import JobView
from ..bridge.scene.report_lines import fit_line
from ..bridge.takes.report_texts import time_text
from .drawing import paragraph, write_line

_WORDS = {"done": "done", "failed": "failed", "lost": "interrupted", "cancelled": "cancelled", "missing": "not here"}

DrawJob = Callable[[bpy.types.UILayout, JobView], None]


def draw_batch(
    box: bpy.types.UILayout, context: bpy.types.Context, views: Sequence[JobView], draw_job: DrawJob
) -> None:
    """Draw the jobs of one batch: what is running or went wrong at once, all of them when it is opened."""
    views = sorted(views, key=lambda view: view.variation)
    busy = any(view.alive or view.queued or view.paused for view in views)
    row = box.row()
    motion = re.sub(r"( push)? \d+$", "", views[0].title.rpartition(": ")[0])
    write_line(row, f"{motion}: {len(views)} variations", icon="RENDERLAYERS")
    if busy:
        row = box.row(align=True)
        row.progress(factor=sum(view.fraction for view in views) / len(views), text=fit_line(batch_text(views)))
        if all(view.paused for view in views if view.alive or view.queued or view.paused):
            row.operator("sinew.resume_batch", text="", icon="PLAY").batch = views[0].batch
        else:
            row.operator("sinew.pause_batch", text="", icon="PAUSE").batch = views[0].batch
        row.operator("sinew.cancel_batch", text="", icon="CANCEL").batch = views[0].batch
    else:
        row.operator("sinew.forget_batch", text="", icon="X", emboss=False).batch = views[0].batch
        paragraph(box, context, batch_text(views), icon="BLANK1")
    header, body = box.panel(f"SINEW_PT_batch_{views[0].batch}", default_closed=True)
    header.label(text="All of them")
    for view in views:
        if body is not None:
            draw_job(body, view)
        elif view.alive or view.is_error:
            draw_job(box, view)


def batch_text(views: Sequence[JobView]) -> str:
    """How a batch stands: '7 of 20 done, 2 lost it, 1 failed'."""
    states = Counter(view.state for view in views)
    parts = [f"{states['done']} of {len(views)} done"]
    if lost := sum(view.lost for view in views):
        parts.append(f"{lost} lost it")
    parts += [f"{states[state]} {word}" for state, word in _WORDS.items() if state != "done" and states[state]]
    if out := sum(view.state == "created" and not (view.queued or view.paused) for view in views):
        parts.append(f"{out} taken out")
    left = left_s(views)
    return ", ".join(parts) + ("" if left is None else f"  ·  {time_text(left)} left")


def left_s(views: Sequence[JobView]) -> float | None:
    """Seconds that a batch still needs if the others take as long as those that were seen; None while unknown."""
    alive, queued = [view for view in views if view.alive], [view for view in views if view.queued]
    if not (alive or queued) or any(view.eta_s is None for view in alive):
        return None
    known = [float(view.wall_s) for view in views if view.state == "done"]
    known = known or [view.wall_s + float(view.eta_s or 0) for view in alive]
    if not known:
        return None
    one_s = sum(known) / len(known) / max(len(alive), 1)
    return max([float(view.eta_s or 0) for view in alive], default=0.0) + len(queued) * one_s
