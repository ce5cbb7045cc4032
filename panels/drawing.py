# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels have in common."""

import functools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import blf
import bpy

from ..bridge.jobs.job_views import JobView
from ..bridge.jobs.live_curves import LiveCurve
from ..bridge.scene.chosen_armature import why_no_armature
from ..bridge.scene.report_lines import fit_line
from ..bridge.scene.stored_types import explain_junk


class SidebarPanel:
    """Where Sinew's panels are. What goes wrong in one for the file's sake is a line of it, and costs no other."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "draw" in vars(cls):
            cls.draw = _explains_failures(cls.draw)


def _explains_failures(draw: Callable[[Any, bpy.types.Context], None]) -> Callable[[Any, bpy.types.Context], None]:
    @functools.wraps(draw)
    def wrapped(self: Any, context: bpy.types.Context) -> None:
        try:
            draw(self, context)
        except Exception as error:
            if not (text := explain_junk(error)):
                raise
            paragraph(self.layout, context, text, icon="ERROR", alert=True)

    return wrapped


def chosen_character(layout: bpy.types.UILayout, context: bpy.types.Context) -> bpy.types.Object | None:
    """The armature that a panel is about, with the layout made ready for its settings; else it says who is missing."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    reason = why_no_armature(context.scene)
    if reason:
        paragraph(layout, context, reason, icon="INFO")
        return None
    return context.scene.sinew.armature


def write_line(layout: bpy.types.UILayout, text: str, *, icon: str = "NONE") -> None:
    """A label with a text that is not ours alone: names in it are shown, and make no line of their own."""
    layout.label(text=fit_line(text), icon=icon)


def paragraph(
    layout: bpy.types.UILayout, context: bpy.types.Context, text: str, *, icon: str, alert: bool = False
) -> None:
    """Draw a text beside an icon over as many lines as it needs; Blender itself would cut it off."""
    scale = context.preferences.system.ui_scale
    points = context.preferences.ui_styles[0].widget.points
    # What the icon and the margins of panel, box and label leave of a line.
    lines = _wrapped(text, context.region.width - 106.0 * scale, points * scale)
    column = layout.column(align=True)
    column.alert = alert
    column.scale_y = 0.8
    for number, line in enumerate(lines):
        column.label(text=line, icon=icon if number == 0 else "BLANK1")


def message_box(
    layout: bpy.types.UILayout, context: bpy.types.Context, message: str, hint: str, *, is_error: bool
) -> bpy.types.UILayout:
    """Draw a message and its fix in a box; gives the box for a button."""
    box = layout.box()
    paragraph(box, context, message, icon="ERROR" if is_error else "INFO", alert=is_error)
    if hint:
        paragraph(box, context, hint, icon="BLANK1")
    return box


def folded(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    panel: str,
    sentences: Sequence[str],
    *,
    icon: str,
    shown: int = 2,
) -> None:
    """Sentences, the first few at once and what is more in a closed sub-panel of that name."""
    for number, sentence in enumerate(sentences[:shown]):
        paragraph(layout, context, sentence, icon="BLANK1" if number else icon)
    if len(sentences) <= shown:
        return
    header, body = layout.panel(panel, default_closed=True)
    header.label(text="More")
    if body is not None:
        for sentence in sentences[shown:]:
            paragraph(body, context, sentence, icon="BLANK1")


def progress_bar(layout: bpy.types.UILayout, view: JobView) -> None:
    """Draw how far a job is, with a button that cancels it."""
    row = layout.row(align=True)
    row.progress(factor=view.fraction, text=fit_line(view.text))
    row.operator("sinew.cancel", text="", icon="CANCEL").job = view.id


def curve_rows(layout: bpy.types.UILayout, curves: Iterable[LiveCurve]) -> None:
    """Draw how learning goes, a line for each curve."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for curve in curves:
        split = column.split(factor=0.55)
        write_line(split, f"{curve.name}: {curve.value}")
        write_line(split, curve.bars)


@functools.lru_cache(maxsize=64)
def _wrapped(text: str, width: float, size: float) -> tuple[str, ...]:
    """The text in lines of at most ``width`` pixels in the interface's font of that ``size``."""
    blf.size(0, size)
    lines = [""]
    for word in fit_line(text).split():
        line = f"{lines[-1]} {word}".lstrip()
        if blf.dimensions(0, line)[0] <= width:
            lines[-1] = line
            continue
        lines.append(word)
        while len(lines[-1]) > 1 and blf.dimensions(0, lines[-1])[0] > width:  # a path: cut it where it must be
            fits = _that_fit(lines[-1], width)
            lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    return tuple(line for line in lines if line)


def _that_fit(word: str, width: float) -> int:
    """How many of the word's letters fit, at least one."""
    counts = range(1, len(word) + 1)
    return max(1, bisect_right(counts, width, key=lambda count: blf.dimensions(0, word[:count])[0]))
