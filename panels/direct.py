# SPDX-License-Identifier: GPL-3.0-or-later
"""A library of motion goes where it is told: the library, training, the way, and baking, in the order of work."""

import bpy

from ..bridge.direct.adapter import WEIGHTS
from ..bridge.jobs.scene_request import settings_group_of
from ..bridge.methods.adapter import FamilyAdapter
from ..bridge.methods.adapters import get_adapter
from ..bridge.methods.declared import Product
from .drawing import SidebarPanel, chosen_character, paragraph
from .method_sections import (
    draw_bake_button,
    draw_learn_button,
    draw_learn_settings,
    draw_learned,
    draw_problem,
    draw_settings,
)
from .preview_switch import draw_preview_switch

_NOT_TRAINED = "Not trained: a body is found for each take anew"


class SINEW_PT_direct(SidebarPanel, bpy.types.Panel):
    """Let the character go along a curve or after an object, with the motion of its library."""

    bl_idname = "SINEW_PT_direct"
    bl_label = "Direct"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the library, training, where to go and how, and baking."""
        layout = self.layout
        obj = chosen_character(layout, context)
        if obj is None:
            return
        adapter = get_adapter("direct")
        has_library = draw_learned(
            layout, context, adapter, obj, about=lambda box: _draw_about(box, context, adapter, obj)
        )
        draw_problem(layout, context, adapter, obj)
        if has_library:
            _draw_training(layout, context, adapter, obj)
            _draw_wish(layout, obj)
            _draw_baking(layout, context, adapter, obj)


def _draw_about(
    box: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter, obj: bpy.types.Object
) -> None:
    trained, sentences = adapter.is_trained(obj), adapter.file.view_of(obj).sentences
    for number, sentence in enumerate(sentences if trained else (*sentences, _NOT_TRAINED)):
        paragraph(box, context, sentence, icon="BLANK1" if number else "CHECKMARK")


def _draw_training(
    layout: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter, obj: bpy.types.Object
) -> None:
    more = (("begin_with", "Nobody"),)
    draw_learn_settings(layout, context, adapter, obj, "Training", "SINEW_PT_direct_training", more)
    draw_learn_button(layout, context, adapter, obj, watching=lambda inside: draw_preview_switch(inside, context.scene))


def _draw_wish(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    own = obj.sinew_direct
    layout.separator()
    layout.prop(own, "way")
    layout.prop(own, "curve" if own.way == "CURVE" else "target")
    layout.prop(own, "speed")
    layout.prop(own, "style", placeholder="Any")
    layout.prop(own, "facing")
    if own.facing == "OBJECT":
        layout.prop(own, "look_at")
    elif own.facing == "KEYED":
        layout.prop(own, "heading")


def _draw_baking(
    layout: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter, obj: bpy.types.Object
) -> None:
    own = obj.sinew_direct
    layout.separator()
    for name in ("seconds", "frame_start", "bake_seed"):
        layout.prop(own, name)
    draw_settings(layout, context, adapter, Product.TAKE)
    header, body = layout.panel("SINEW_PT_direct_weights", default_closed=True)
    header.label(text="What Counts")
    if body is not None:
        settings = settings_group_of(context.scene, adapter.method(Product.TAKE).name)
        for name in WEIGHTS:
            body.prop(settings, name)
    draw_bake_button(layout, context, adapter)
