# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a motion may be from its source and in what style, then what was learned so: in the order of work."""

import bpy

from ..bridge.bounds import views
from ..bridge.bounds.properties import ONE_BONE
from .bounds_learning import draw_learning, draw_style
from .drawing import chosen_character, paragraph, write_line
from .presets import SINEW_PT_bounds_presets
from .searching import list_flags
from .what import WhatPanel


class SINEW_UL_bound_parts(bpy.types.UIList):
    """Parts with bounds of their own: joint or end effector, which, how far."""

    bl_idname = "SINEW_UL_bound_parts"

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
        """Draw one line; a bone that is not there is red."""
        layout.use_property_split = False
        row = layout.row(align=True)
        row.prop(item, "use", text="")
        which = row.split(factor=0.55, align=True)
        if item.part == ONE_BONE:
            which.alert = item.bone not in data.data.bones
            which.prop_search(item, "bone", data.data, "bones", text="", icon="BONE_DATA")
        else:
            which.prop(item, "part", text="")
        if item.use:
            which.prop(item, "angle" if item.kind == "JOINT" else "reach", text="")
        else:
            which.label(text="free")

    def filter_items(
        self, context: bpy.types.Context, data: bpy.types.Object, name: str
    ) -> tuple[list[int], list[int]]:
        """Only those that say what is sought."""
        return list_flags(
            self.bitflag_filter_item, self.filter_name, (f"{row.part} {row.bone}" for row in getattr(data, name))
        ), []


class SINEW_PT_bounds(WhatPanel, bpy.types.Panel):
    """Learn a motion within bounds around it, and bake takes of any length from what was learned."""

    bl_idname = "SINEW_PT_bounds"
    bl_label = "Bounds and Style"
    bl_options = {"HIDE_HEADER"}
    whats = ("BOUNDS",)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the bounds, painting, style, training, what was learned, and baking."""
        layout = self.layout
        obj = chosen_character(layout, context)
        if obj is None:
            return
        row = layout.row()
        row.label(text="As far from its source as:")
        SINEW_PT_bounds_presets.draw_panel_header(row)
        _draw_bounds(layout, obj)
        _draw_parts(layout, obj)
        _draw_painting(layout, context, obj)
        draw_style(layout, context, obj)
        draw_learning(layout, context, obj)


def _draw_bounds(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    own = obj.sinew_bounds
    column = layout.column()
    column.use_property_decorate = True  # the dots that set keys
    com = column.column(align=True)
    com.label(text="Centre of Mass (m)")
    for axis, letter in enumerate("XYZ"):
        _draw_width(com, own, "com", letter, axis)
    for name, label in (("root", "Root"), ("joints", "Joints"), ("effectors", "End Effectors")):
        _draw_width(column, own, name, label)


def _draw_width(
    layout: bpy.types.UILayout, own: bpy.types.PropertyGroup, name: str, label: str, axis: int = -1
) -> None:
    """A switch and a width beside each other, or that there is none."""
    used = getattr(own, f"use_{name}")
    row = layout.row(align=True, heading=label)
    row.prop(own, f"use_{name}", index=axis, text="")
    if used if axis < 0 else used[axis]:
        row.prop(own, name, index=axis, text="")
    else:
        row.label(text="free")


def _draw_parts(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    header, body = layout.panel("SINEW_PT_bound_parts", default_closed=True)
    count = len(obj.sinew_bound_parts)
    write_line(header, f"Single Parts ({count})" if count else "Single Parts")
    if body is None:
        return
    row = body.row()
    row.template_list(
        "SINEW_UL_bound_parts", "", obj, "sinew_bound_parts", obj, "sinew_bound_part_index", rows=3 if count else 2
    )
    buttons = row.column(align=True)
    buttons.operator("sinew.bounds_part_add", text="", icon="ADD")
    buttons.operator("sinew.bounds_part_remove", text="", icon="REMOVE")
    if not count:
        return
    part = obj.sinew_bound_parts[min(obj.sinew_bound_part_index, count - 1)]
    body.prop(part, "kind")
    body.prop(part, "part")
    if part.part == ONE_BONE:
        body.prop_search(part, "bone", obj.data, "bones")
    width = body.row(align=True)
    width.use_property_decorate = True
    width.prop(part, "angle" if part.kind == "JOINT" else "reach")


def _draw_painting(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    own, scene = obj.sinew_bounds, context.scene
    room = layout.row()
    room.use_property_decorate = True
    room.prop(own, "factor")
    column = layout.column(align=True)
    buttons = column.row(align=True)
    for idname, icon in (("sinew.bounds_loosen", "FULLSCREEN_ENTER"), ("sinew.bounds_tighten", "FULLSCREEN_EXIT")):
        button = buttons.operator(idname, icon=icon)
        button.amount, button.frames = own.paint_amount, own.paint_frames
    told = column.row(align=True)
    told.use_property_split = False
    told.prop(own, "paint_amount")
    told.prop(own, "paint_frames")
    told.operator("sinew.bounds_clear_keys", text="", icon="X")
    if views.shows_take(obj):
        paragraph(layout, context, "A take is shown: keys of bounds are in its source (Takes > Source)", icon="INFO")
    shown = layout.row(heading="Show")
    shown.prop(scene.sinew_overlay, "bounds", text="In Viewport")
    if scene.sinew_overlay.bounds and not scene.sinew_overlay.show:
        layout.prop(scene.sinew_overlay, "show", text="The overlay is off", icon="HIDE_ON", toggle=True)
