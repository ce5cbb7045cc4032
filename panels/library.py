# SPDX-License-Identifier: GPL-3.0-or-later
"""Many Actions as one library: what styles the Action has, and what the library is made of."""

import bpy

from ..bridge.learned.learned_file import LearnedFile
from ..bridge.library import action_tags, views
from ..bridge.methods.adapters import get_adapter
from .drawing import chosen_character, paragraph, write_line
from .method_sections import draw_problem
from .what import WhatPanel

_MOST_ROWS = 24


class SINEW_UL_library_actions(bpy.types.UIList):
    """Actions that could be in the library: picked or not."""

    bl_idname = "SINEW_UL_library_actions"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: bpy.types.BlendData,
        item: bpy.types.Action,
        icon: int,
        active_data: bpy.types.PropertyGroup,
        active_property: str,
        index: int = 0,
    ) -> None:
        """Draw one line."""
        row = layout.row(align=True)
        row.prop(item, "sinew_in_library", text="")
        write_line(row, item.name, icon="ACTION")

    def filter_items(
        self, context: bpy.types.Context, data: bpy.types.BlendData, name: str
    ) -> tuple[list[int], list[int]]:
        """Only those that could move the character."""
        obj, found = context.scene.sinew.armature, getattr(data, name)
        helper = bpy.types.UI_UL_list
        flags = helper.filter_items_by_name(self.filter_name, self.bitflag_filter_item, found)
        flags = flags or [self.bitflag_filter_item] * len(found)
        fits = [obj is not None and views.may_be_in_library(obj, action) for action in found]
        return [flag if fit else 0 for flag, fit in zip(flags, fits, strict=True)], []


class SINEW_PT_library(WhatPanel, bpy.types.Panel):
    """Say which frames of an Action are which style, and gather Actions in a library."""

    bl_idname = "SINEW_PT_library"
    bl_label = "Library"
    bl_options = {"DEFAULT_CLOSED"}
    whats = ("LIBRARY", "CUES", "ITSELF")

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the Action's style tags, what the library is made of, and its picture."""
        layout = self.layout
        obj = chosen_character(layout, context)
        if obj is None:
            return
        _draw_tags(layout, context, obj)
        layout.separator()
        if not views.why_not_build(context.scene):
            own = obj.sinew_library
            layout.template_list("SINEW_UL_library_actions", "", bpy.data, "actions", own, "action_index", rows=3)
        layout.prop(obj.sinew_library, "actions", placeholder="All")
        layout.prop(obj.sinew_library, "mirror")
        if reason := views.why_not_build(context.scene):
            paragraph(layout, context, reason, icon="INFO")
        button = layout.column()
        button.scale_y = 1.4
        button.operator("sinew.library_build", icon="ASSET_MANAGER")
        draw_problem(layout, context, get_adapter(views.FAMILY), obj)
        if not views.why_no_library(context.scene):
            layout.operator("sinew.library_picture", icon="IMAGE_DATA")
            image = views.picture_of(obj)
            if image is not None and image.preview is not None and image.preview.icon_id:
                layout.template_icon(icon_value=image.preview.icon_id, scale=10.0)


def draw_library_offer(
    layout: bpy.types.UILayout, context: bpy.types.Context, file: LearnedFile, obj: bpy.types.Object
) -> None:
    """Where there is no library yet: that one is needed, and the button that makes it."""
    if file.path_of(obj) is not None:
        return
    if reason := views.why_not_build(context.scene):
        paragraph(layout, context, f"It needs a library of motions. {reason}", icon="INFO")
        return
    paragraph(layout, context, "It needs a library of motions: choose its file, or make it of this file's", icon="INFO")
    layout.operator("sinew.library_build", icon="ASSET_MANAGER")


def _draw_tags(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    action = action_tags.tagged_action(obj)
    if action is None:
        paragraph(layout, context, action_tags.why_no_action(context.scene), icon="INFO")
        return
    write_line(layout, f"Styles of '{action.name}'", icon="ACTION")
    tags = action_tags.read_action_tags(obj)
    column = layout.column(align=True)
    column.use_property_split = False
    for index, tag in enumerate(tags[:_MOST_ROWS]):
        row = column.row(align=True)
        write_line(row, f"{tag.name}{'?' if tag.is_proposal else ''}", icon="MARKER_HLT")
        write_line(row, f"{tag.first} to {'the end' if tag.is_open else tag.last}")
        if tag.is_proposal:
            row.operator("sinew.library_tag_accept", text="", icon="CHECKMARK").index = index
        row.operator("sinew.library_tag_remove", text="", icon="X").index = index
    if len(tags) > _MOST_ROWS:
        write_line(column, f"and {len(tags) - _MOST_ROWS} more in the Dope Sheet")
    if reason := action_tags.why_not_all_tags(obj):
        paragraph(layout, context, reason, icon="INFO")
    row = layout.row(align=True)
    row.operator("sinew.library_tag_add", icon="ADD", text="Add")
    row.operator("sinew.library_tag_propose", icon="AUTOMERGE_ON", text="Propose")
    if any(tag.is_proposal for tag in tags):
        row.operator("sinew.library_tag_accept", icon="CHECKMARK", text="Accept All").index = -1
