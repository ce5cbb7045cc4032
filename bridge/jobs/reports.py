# SPDX-License-Identifier: GPL-3.0-or-later
"""How the jobs are heard of: reports at the bottom of the window, and what is redrawn when they change."""

import bpy

from ...core.jobs import Job

_SEEN = "seen.json"


def report_to_user(text: str, kind: str) -> None:
    """Say something in the status bar. kind: 'INFO' or 'WARNING'."""
    windows = bpy.context.window_manager.windows
    if bpy.app.background or not windows:
        bpy.ops.sinew.tell(text=text, kind=kind)
        return
    with bpy.context.temp_override(window=bpy.context.window or windows[0]):
        bpy.ops.sinew.tell("INVOKE_DEFAULT", text=text, kind=kind)


def is_news(job: Job) -> bool:
    """Whether nobody was told yet how the job's newest run ended."""
    return (job.read_note(_SEEN) or {}).get("run") != job.history.run


def mark_told(job: Job) -> None:
    """Note that the user knows how the newest run ended, so that opening the file again says no more of it."""
    job.write_note(_SEEN, {"run": job.history.run})


def redraw() -> None:
    """Draw the sidebars and the status bar anew."""
    if bpy.app.background:
        return
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
        # The status bar is in no list of areas. Setting its text draws it anew, and no text is what it has, unless a
        # tool shows its keys there.
        if not window.modal_operators:
            with bpy.context.temp_override(window=window):
                window.workspace.status_text_set_internal(None)
