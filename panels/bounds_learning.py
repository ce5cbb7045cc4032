# SPDX-License-Identifier: GPL-3.0-or-later
"""The second half of Bounds and Style: in what style a motion is learned, how that goes, and what is baked from it."""

import bpy

from ..bridge.jobs.scene_request import settings_group_of
from ..bridge.learned.learned_file import LearnedView
from ..bridge.methods.adapters import get_adapter
from .drawing import paragraph
from .method_sections import draw_bake_button, draw_learn_button, draw_learn_settings, draw_learned, draw_problem
from .presets import SINEW_PT_style_presets
from .preview_switch import draw_preview_switch

_STYLE = ("style", "strength")


def draw_style(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Draw in what style the motion is to be learned."""
    settings = settings_group_of(context.scene, "bounds_train")
    header, body = layout.panel("SINEW_PT_style", default_closed=True)
    header.label(text="Style")
    SINEW_PT_style_presets.draw_panel_header(header)
    if body is None:
        return
    body.prop(settings, "style")
    if settings.style == "manner":
        body.prop(obj.sinew_bounds, "manner")
    if settings.style != "none":
        body.prop(settings, "strength")


def draw_learning(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Draw training, what came of it, and baking from that."""
    adapter = get_adapter("bounds")
    draw_learn_settings(
        layout,
        context,
        adapter,
        obj,
        "Training",
        "SINEW_PT_train_settings",
        more=[("begin", "Nothing")],
        without=_STYLE,
    )
    draw_learn_button(layout, context, adapter, obj, watching=lambda inside: draw_preview_switch(inside, context.scene))
    draw_problem(layout, context, adapter, obj)
    if draw_learned(
        layout,
        context,
        adapter,
        obj,
        about=lambda box: _draw_about(box, context, adapter.file.view_of(obj)),
        besides=lambda inside: inside.operator("sinew.bounds_styles", icon="MOD_ARRAY"),
    ):
        _draw_baking(layout, context, obj)


def _draw_about(box: bpy.types.UILayout, context: bpy.types.Context, view: LearnedView) -> None:
    lasts = view.model.about.get("done_after") is not None
    for number, sentence in enumerate(view.sentences):
        paragraph(box, context, sentence, icon="BLANK1" if number else "CHECKMARK" if lasts else "SORTTIME")


def _draw_baking(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    own, adapter = obj.sinew_bounds, get_adapter("bounds")
    layout.separator()
    layout.prop(own, "stage")
    if adapter.file.view_of(obj).model.reference.cyclic:
        layout.prop(own, "seconds")
    layout.prop(own, "frame_start")
    draw_bake_button(layout, context, adapter)
