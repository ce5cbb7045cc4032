# SPDX-License-Identifier: GPL-3.0-or-later
"""What is running, what has run, and what to do about it."""

import bpy

from ..bridge import takes
from ..bridge.jobs import monitor, preparing
from ..bridge.jobs.job_views import JobView
from ..bridge.scene.report_lines import fit_line
from .advanced import shows_advanced
from .batches import draw_batch
from .drawing import SidebarPanel, folded, message_box, paragraph, write_line
from .job_buttons import draw_bar, draw_doing
from .searching import draw_search, filter_sought

_ICONS = {
    "created": "TIME",
    "starting": "TIME",
    "running": "PLAY",
    "paused": "PAUSE",
    "done": "CHECKMARK",
    "failed": "ERROR",
    "cancelled": "CANCEL",
    "lost": "UNLINKED",
    "missing": "QUESTION",
}


class SINEW_PT_jobs(SidebarPanel, bpy.types.Panel):
    """Follow, cancel, resume and bake this file's jobs."""

    bl_idname = "SINEW_PT_jobs"
    bl_label = "Jobs"
    bl_order = 2

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a job, or somebody who wants to see all there is."""
        return bool(monitor.watched_jobs() or preparing.preparation_views()) or shows_advanced(context.scene)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw a box for each job, the newest first."""
        layout = self.layout
        views, reading = monitor.watched_jobs(), preparing.preparation_views()
        baked = takes.baked_jobs() if views else {}
        for one in reading:
            box = layout.box()
            write_line(box, one.title, icon="TIME")
            row = box.row(align=True)
            row.progress(factor=one.fraction, text=fit_line(one.text))
            row.operator("sinew.cancel_preparing", text="", icon="CANCEL").number = one.id
        if not (views or reading):
            layout.label(text="No jobs yet", icon="INFO")

        def draw_job(parent: bpy.types.UILayout, view: JobView) -> None:
            _draw_job(parent.box(), context, view, baked.get(view.id, view.action))

        draw_search(layout, context.scene, len(views))
        views = filter_sought(context.scene, views, lambda view: f"{view.title} {view.method}")
        # A batch stands where its newest job does.
        for batch in dict.fromkeys(view.batch or view.id for view in views):
            own = [view for view in views if batch in (view.batch, view.id)]
            if own[0].batch:
                draw_batch(layout.box(), context, own, draw_job)
            else:
                draw_job(layout, own[0])
        layout.operator("sinew.clean_jobs", text="Delete Old Jobs...", icon="TRASH")


def _draw_job(box: bpy.types.UILayout, context: bpy.types.Context, view: JobView, action: str) -> None:
    row = box.row()
    write_line(row, view.title, icon=_ICONS.get(view.state, "DOT"))
    if not view.batch:  # whose jobs have long titles, and one method
        write_line(row, view.method)
    if not (view.alive or view.queued):
        row.operator("sinew.forget_job", text="", icon="X", emboss=False).job = view.id
    if view.alive or view.queued or view.paused:
        draw_bar(box, view)
        draw_doing(box, context, view)
    else:
        _draw_end(box, context, view, action)
    if view.message:
        message_box(box, context, view.message, view.hint, is_error=view.is_error)
    for note in view.notes:
        message_box(box, context, note, "", is_error=False)


def _draw_end(box: bpy.types.UILayout, context: bpy.types.Context, view: JobView, action: str) -> None:
    if view.state == "done" and action in bpy.data.actions:
        paragraph(box, context, f"{view.text}, baked as '{action}'", icon="ACTION")  # how it went stands in Takes
        return
    row = box.row()
    write_line(row, view.text)
    if view.state == "done":
        words = {"text": "Use It", "icon": "CHECKMARK"} if view.file else {"icon": "ACTION_TWEAK"}
        row.operator("sinew.collect", **words).job = view.id
        if view.file:
            paragraph(box, context, f"Learned '{view.file}'", icon="FILE")
        _draw_summary(box, context, view)
    elif view.resumable:
        row.operator("sinew.resume", text="Start" if view.state == "created" else "Resume", icon="PLAY").job = view.id


def _draw_summary(box: bpy.types.UILayout, context: bpy.types.Context, view: JobView) -> None:
    folded(box, context, f"SINEW_PT_job_{view.id}", view.summary, icon="BLANK1")
