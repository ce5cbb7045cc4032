# SPDX-License-Identifier: GPL-3.0-or-later
"""A library of motion does deeds on cue: the library, training, the cues, and baking, in the order of work."""

import bpy

from ..bridge.methods.adapter import FamilyAdapter
from ..bridge.methods.adapters import get_adapter
from ..bridge.methods.declared import Product
from .advanced import draw_rare
from .drawing import chosen_character
from .library import draw_library_offer
from .method_sections import (
    draw_bake_button,
    draw_learn_button,
    draw_learn_settings,
    draw_learned,
    draw_problem,
    draw_settings,
)
from .searching import list_flags
from .what import WhatPanel


class SINEW_UL_cues(bpy.types.UIList):
    """Cues: frame, deed, place, target."""

    bl_idname = "SINEW_UL_cues"

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
        """Draw one line; a cue without a deed is red."""
        layout.use_property_split = False
        row = layout.row(align=True)
        row.alert = not item.deed.strip()
        row.prop(item, "frame", text="", emboss=False)
        row.prop(item, "deed", text="", placeholder="Deed", emboss=False)
        row.prop(item, "target", text="")
        row.prop(item, "hit", text="", icon="PIVOT_CURSOR")

    def filter_items(
        self, context: bpy.types.Context, data: bpy.types.Object, name: str
    ) -> tuple[list[int], list[int]]:
        """Only those that say what is sought."""
        return list_flags(
            self.bitflag_filter_item, self.filter_name, (f"{row.frame} {row.deed}" for row in getattr(data, name))
        ), []


class SINEW_PT_respond(WhatPanel, bpy.types.Panel):
    """Let the character do deeds of its library at frames of yours."""

    bl_idname = "SINEW_PT_respond"
    bl_label = "Respond"
    bl_options = {"HIDE_HEADER"}
    whats = ("CUES",)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the library, training, the cues, and baking."""
        layout = self.layout
        obj = chosen_character(layout, context)
        if obj is None:
            return
        adapter = get_adapter("respond")
        has_library = draw_learned(layout, context, adapter, obj)
        draw_problem(layout, context, adapter, obj)
        draw_library_offer(layout, context, adapter.file, obj)
        if has_library:
            draw_learn_settings(layout, context, adapter, obj, "Training", "SINEW_PT_respond_training")
            draw_learn_button(layout, context, adapter, obj)
            _draw_cues(layout, obj)
            _draw_baking(layout, context, adapter, obj)


def _draw_cues(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    layout.separator()
    row = layout.row()
    row.template_list("SINEW_UL_cues", "", obj, "sinew_cues", obj, "sinew_cue_index", rows=3)
    column = row.column(align=True)
    column.operator("sinew.respond_cue_add", text="", icon="ADD")
    column.operator("sinew.respond_cue_remove", text="", icon="REMOVE")


def _draw_baking(
    layout: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter, obj: bpy.types.Object
) -> None:
    own = obj.sinew_respond
    layout.separator()
    layout.prop(own, "frame_start")
    draw_rare(layout, context.scene, own, ("bake_seed",))
    draw_settings(layout, context, adapter, Product.TAKE)
    draw_bake_button(layout, context, adapter)
