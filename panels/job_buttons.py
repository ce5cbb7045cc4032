# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be done about a job that runs, waits or rests."""

import bpy

from ..bridge.jobs.job_views import JobView
from ..bridge.jobs.live_curves import live_curves
from ..bridge.scene.report_lines import fit_line
from .advanced import shows_advanced
from .drawing import curve_rows, write_line


def draw_bar(layout: bpy.types.UILayout, view: JobView) -> None:
    """Draw how far a job is, with buttons that pause or resume and that cancel it."""
    row = layout.row(align=True)
    if view.alive:
        row.progress(factor=view.fraction, text=fit_line(view.text))
    else:
        write_line(row, view.text)
    if view.paused:
        row.operator("sinew.resume", text="", icon="PLAY").job = view.id
    else:
        row.operator("sinew.pause", text="", icon="PAUSE").job = view.id
    row.operator("sinew.cancel", text="", icon="CANCEL").job = view.id


def draw_doing(layout: bpy.types.UILayout, context: bpy.types.Context, view: JobView) -> None:
    """Draw what a job does now and how it goes; what only those care for who know its method is folded away."""
    if view.doing:
        write_line(layout, view.doing)
    curve_rows(layout, live_curves(view))
    if not (research := live_curves(view, advanced=True)):
        return
    if shows_advanced(context.scene):
        curve_rows(layout, research)
