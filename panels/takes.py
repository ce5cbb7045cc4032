# SPDX-License-Identifier: GPL-3.0-or-later
"""What was simulated for the armature, and what to do with each of it."""

import bpy

from ..bridge import takes
from ..bridge.scene.report_lines import fit_line
from ..bridge.takes import views
from ..bridge.takes.views import TakeView
from .drawing import SidebarPanel, paragraph, write_line

_UP = "CHECKMARK"
_SIGNS = {"fell": "ERROR", "skates": "FORWARD", "sinks": "TRIA_DOWN_BAR"}  # told by their shape, not by a colour
_FINE = "CHECKMARK"


class SINEW_UL_takes(bpy.types.UIList):
    """Takes: shown or not, name, what is wrong with it by a sign, which one of a batch, kept or not."""

    bl_idname = "SINEW_UL_takes"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: bpy.types.Object,
        item: bpy.types.PropertyGroup,
        icon: int,
        active_data: bpy.types.Object,
        active_property: str,
        index: int = 0,
    ) -> None:
        """Draw one line. A take without its Action is red; its name is edited by a double click."""
        row = layout.row(align=True)
        action = item.action
        if action is None:
            name = row.row()
            name.alert = True
            write_line(name, views.take_title(item), icon="ERROR")
            row.operator("sinew.take_delete", text="", icon="X", emboss=False).index = index
            return
        shown = "RADIOBUT_ON" if views.is_take_shown(data, item) else "RADIOBUT_OFF"
        row.operator("sinew.take_show", text="", icon=shown, emboss=False).index = index
        row.prop(action, "name", text="", emboss=False)
        if action.sinew_note:
            row.label(text="", icon="TEXT")
        for icon in _marks_of(item):
            row.label(text="", icon=icon)
        label = row.row()
        label.alignment = "RIGHT"
        write_line(label, item.label.removeprefix("seed ") if _is_narrow(context) else item.label)
        kept = "SOLO_ON" if action.use_fake_user else "SOLO_OFF"
        row.operator("sinew.take_keep", text="", icon=kept, emboss=False).index = index

    def draw_filter(self, context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
        """A field to search by name; order and filter stand above the list."""
        row = layout.row(align=True)
        row.prop(self, "filter_name", text="")
        row.prop(self, "use_filter_invert", text="", icon="ARROW_LEFTRIGHT")
        row.prop(self, "use_filter_sort_reverse", text="", icon="SORT_DESC")

    def filter_items(
        self, context: bpy.types.Context, data: bpy.types.Object, propname: str
    ) -> tuple[list[int], list[int]]:
        """Which rows are shown, and where."""
        view = context.scene.sinew_takes_view
        listed, places = views.arrange_takes(getattr(data, propname), view.sort, view.only_up, self.filter_name)
        return [self.bitflag_filter_item if shown else 0 for shown in listed], places


class SINEW_PT_takes(SidebarPanel, bpy.types.Panel):
    """Compare, keep and use what was simulated."""

    bl_idname = "SINEW_PT_takes"
    bl_label = "Takes"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be an armature that could have some."""
        return takes.take_owner(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the list, what can be done, and what is known of the chosen take."""
        layout, obj = self.layout, takes.take_owner(context)
        if obj is None:
            paragraph(layout, context, "Select an armature", icon="INFO")
            return
        write_line(layout, obj.name, icon="ARMATURE_DATA")
        if obj.sinew_takes:
            _draw_list(layout, context, obj)
            _draw_chosen(layout, context, obj)
        else:
            paragraph(layout, context, "No takes yet: simulate its Action", icon="INFO")
        _draw_copies(layout, context, obj)


def _is_narrow(context: bpy.types.Context) -> bool:
    return context.region.width < 320.0 * context.preferences.system.ui_scale


def _draw_list(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    view = context.scene.sinew_takes_view
    row = layout.row(align=True)
    row.prop(view, "sort", expand=True)
    row.prop(view, "only_up", text="", icon=_UP)
    row.prop(view, "follow_range", text="", icon="PREVIEW_RANGE")
    # The names need all the width there is; so the buttons stand below, not beside.
    layout.template_list("SINEW_UL_takes", "", obj, "sinew_takes", obj, "sinew_take_clicked", rows=4)


def _draw_chosen(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    row = takes.row_at(obj)
    view = views.view_take(obj, row)
    _draw_buttons(layout, view)
    box = layout.box()
    if view.missing:
        paragraph(box, context, f"The Action of '{view.name}' was deleted", icon="ERROR", alert=True)
        paragraph(box, context, "Bake it again from Jobs, or delete the take", icon="BLANK1")
    else:
        paragraph(box, context, view.name, icon="ACTION")  # in the list it may be cut off
        box.prop(row.action, "sinew_note", text="", icon="TEXT", placeholder="Note")
    if view.asked:
        paragraph(box, context, view.asked, icon="BLANK1")
    for mark in view.marks:
        if mark.bad is not None:
            paragraph(box, context, mark.words, icon=_SIGNS[mark.fault] if mark.bad else _FINE)
    if view.placed:
        paragraph(box, context, view.placed, icon="BONE_DATA")
    header, body = box.panel("SINEW_PT_take_numbers", default_closed=True)
    header.label(text="All About It")
    if body is not None:
        for sentence in view.beyond_marks:
            paragraph(body, context, sentence, icon="BLANK1")
        _draw_pairs(body, (*view.facts, ("Source", view.source or "NLA"), *view.numbers))


def _marks_of(item: bpy.types.PropertyGroup) -> list[str]:
    """A sign for everything that is wrong with a take, or the one for nothing."""
    marks = views.take_marks(item)
    return [_SIGNS[mark.fault] for mark in marks if mark.bad] or [_FINE]


def _draw_buttons(layout: bpy.types.UILayout, view: TakeView) -> None:
    column = layout.column(align=True)
    row = column.row(align=True)
    if not view.missing:
        if view.copy_of:
            row.operator("sinew.take_visit", text="Source", icon="ARMATURE_DATA").name = view.copy_of
            row.operator("sinew.take_show", text="Take", depress=view.shown)
        else:
            row.operator("sinew.take_show_source", text="Source", depress=view.source_shown)
            row.operator("sinew.take_show", text="Take", depress=view.shown)
            row.operator("sinew.take_compare", text="", icon="ARROW_LEFTRIGHT")
        row = column.row(align=True)
        row.operator("sinew.take_to_nla", icon="NLA_PUSHDOWN", depress=view.in_nla)
        row.operator("sinew.take_rename", text="", icon="GREASEPENCIL")
    row.operator("sinew.take_delete", text="Delete Take" if view.missing else "", icon="REMOVE")
    row.operator("sinew.take_delete_unkept", text="", icon="TRASH")


def _draw_pairs(layout: bpy.types.UILayout, pairs: tuple[tuple[str, str], ...]) -> None:
    column = layout.column(align=True)
    column.scale_y = 0.8
    for name, value in pairs:
        split = column.split(factor=0.42)
        write_line(split, name)
        write_line(split, value)


def _draw_copies(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    copies = takes.copies_apart(obj, context.scene)
    if copies:
        column = layout.column(align=True)
        column.label(text="Takes on baked copies:")
        for copy in copies:
            column.operator("sinew.take_visit", text=fit_line(copy.name), icon="ARMATURE_DATA").name = copy.name
