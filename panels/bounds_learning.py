# SPDX-License-Identifier: GPL-3.0-or-later
"""The second half of Bounds and Style: in what style a motion is learned, how that goes, and what is baked from it."""

import bpy

from ..bridge.bounds import asking, files, views
from ..bridge.jobs.job_views import JobView
from ..bridge.jobs.scene_request import settings_group_of
from ..bridge.setup import readiness
from .drawing import curve_rows, message_box, paragraph, progress_bar
from .presets import SINEW_PT_style_presets

_STYLE = ("style", "strength")


def draw_style(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Draw in what style the motion is to be learned."""
    settings = settings_group_of(context.scene, asking.TRAIN)
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
    _draw_training(layout, context, obj)
    if problem := views.problem_of(obj.name):
        message_box(layout, context, problem.message, problem.hint, is_error=True)
    _draw_controller(layout, context, obj)
    if obj.sinew_bounds.file.strip() and files.view_of(obj).problem is None:
        _draw_baking(layout, context, obj)


def _draw_training(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    scene = context.scene
    header, body = layout.panel("SINEW_PT_train_settings", default_closed=True)
    header.label(text="Training")
    if body is not None:
        settings = settings_group_of(scene, asking.TRAIN)
        for name in asking.train_settings():
            if name not in _STYLE:
                body.prop(settings, name)
        body.prop(scene.sinew, "engine")
        body.prop(obj.sinew_bounds, "seed")
        body.prop(obj.sinew_bounds, "begin", placeholder="Nothing")
    if lacking := readiness.lacks_learning():
        box = message_box(layout, context, lacking.message, lacking.hint, is_error=False)
        box.operator("sinew.install_missing", icon="IMPORT")
    view = views.training_view(obj)
    if view is not None and view.alive:
        _draw_progress(layout, view)
        _draw_rehearsal(layout, scene)
        return
    if reason := views.why_not_train(scene):
        paragraph(layout, context, reason, icon="INFO")
    button = layout.column(align=True)
    button.scale_y = 1.4
    if view is not None and view.resumable and view.fraction > 0.0:
        button.operator("sinew.resume", text=f"Go On From {view.fraction:.0%}", icon="PLAY").job = view.id
    button.operator("sinew.bounds_train", icon="PLAY")


def _draw_progress(layout: bpy.types.UILayout, view: JobView) -> None:
    progress_bar(layout, view)
    if view.state == "running":
        layout.operator("sinew.bounds_finish", icon="CHECKMARK").job = view.id
    curve_rows(layout, views.live_curves(view))


def _draw_rehearsal(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Whether it is seen in the viewport what the policy does by now."""
    own = scene.sinew_overlay
    layout.row(heading="Show").prop(own, "rehearsal", text="In Viewport")
    if own.rehearsal and not own.show:
        layout.prop(own, "show", text="The overlay is off", icon="HIDE_ON", toggle=True)


def _draw_controller(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    layout.separator()
    layout.prop(obj.sinew_bounds, "file", placeholder="Not learned yet")
    if not obj.sinew_bounds.file.strip():
        return
    view = files.view_of(obj)
    if view.problem is not None:
        message_box(layout, context, view.problem.message, view.problem.hint, is_error=True)
        return
    box = layout.box()
    for number, sentence in enumerate(view.sentences):
        icon = "BLANK1" if number else "CHECKMARK" if view.lasts else "SORTTIME"
        paragraph(box, context, sentence, icon=icon)
    layout.operator("sinew.bounds_styles", icon="MOD_ARRAY")
    if files.is_elsewhere(obj):
        layout.operator("sinew.bounds_bring_along", icon="FILE_FOLDER")


def _draw_baking(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    own, scene = obj.sinew_bounds, context.scene
    layout.separator()
    layout.prop(own, "stage")
    if files.view_of(obj).cyclic:
        layout.prop(own, "seconds")
    layout.prop(own, "frame_start")
    layout.prop(scene.sinew, "place")
    if reason := asking.why_not_bake(scene):
        paragraph(layout, context, reason, icon="INFO")
    button = layout.column()
    button.scale_y = 1.4
    button.operator("sinew.bounds_bake", icon="ACTION_TWEAK")
