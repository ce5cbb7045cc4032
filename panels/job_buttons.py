# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be done about a job that runs, waits or rests."""

import bpy

from ..bridge.jobs.job_views import JobView


def draw_bar(layout: bpy.types.UILayout, view: JobView) -> None:
    """Draw how far a job is, with buttons that pause or resume and that cancel it."""
    row = layout.row(align=True)
    if view.alive:
        row.progress(factor=view.fraction, text=view.text)
    else:
        row.label(text=view.text)
    if view.paused:
        row.operator("sinew.resume", text="", icon="PLAY").job = view.id
    else:
        row.operator("sinew.pause", text="", icon="PAUSE").job = view.id
    row.operator("sinew.cancel", text="", icon="CANCEL").job = view.id
