# SPDX-License-Identifier: GPL-3.0-or-later
"""A library of motion goes where it is told: the library, training, the way, and baking, in the order of work."""

import bpy

from ..bridge.direct.adapter import WEIGHTS
from ..bridge.jobs.scene_request import settings_group_of
from ..bridge.methods.adapter import FamilyAdapter
from ..bridge.methods.adapters import get_adapter
from ..bridge.methods.declared import Product
from .advanced import draw_rare, shows_advanced
from .drawing import chosen_character, folded
from .library import draw_library_offer
from .method_sections import (
    draw_bake_button,
    draw_learn_button,
    draw_learn_settings,
    draw_learned,
    draw_problem,
    draw_settings,
)
from .preview_switch import draw_preview_switch
from .what import WhatPanel

_NOT_TRAINED = "Not trained: a body is found for each take anew"


class SINEW_PT_direct(WhatPanel, bpy.types.Panel):
    """Let the character go along a curve or after an object, with the motion of its library."""

    bl_idname = "SINEW_PT_direct"
    bl_label = "Direct"
    bl_options = {"HIDE_HEADER"}
    whats = ("LIBRARY",)

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
        draw_library_offer(layout, context, adapter.file, obj)
        if has_library:
            _draw_training(layout, context, adapter, obj)
            _draw_wish(layout, obj)
            _draw_baking(layout, context, adapter, obj)


def _draw_about(
    box: bpy.types.UILayout, context: bpy.types.Context, adapter: FamilyAdapter, obj: bpy.types.Object
) -> None:
    trained, sentences = adapter.is_trained(obj), adapter.file.view_of(obj).sentences
    known = sentences if trained else (*sentences[:1], _NOT_TRAINED, *sentences[1:])
    folded(box, context, "SINEW_PT_direct_about", known, icon="CHECKMARK")


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
    for name in ("seconds", "frame_start"):
        layout.prop(own, name)
    draw_rare(layout, context.scene, own, ("bake_seed",))
    draw_settings(layout, context, adapter, Product.TAKE)
    body = layout
    if shows_advanced(context.scene):
        header, body = layout.panel("SINEW_PT_direct_weights", default_closed=True)
        header.label(text="What Counts")
    if body is not None:
        draw_rare(body, context.scene, settings_group_of(context.scene, adapter.method(Product.TAKE).name), WEIGHTS)
    draw_bake_button(layout, context, adapter)
