# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a motion may be from its source, what was learned within that, and what is baked: in the order of work."""

import bpy
from bl_ui.utils import PresetPanel

from ..bridge import readiness
from ..bridge.bounds import asking, files, views
from ..bridge.bounds.properties import ONE_BONE
from ..bridge.graph.views import why_no_armature
from ..bridge.job_views import JobView
from ..bridge.properties import group_of
from .drawing import SidebarPanel, chosen_character, curve_rows, message_box, paragraph, progress_bar


class SINEW_PT_bounds_presets(PresetPanel, bpy.types.Panel):
    """Bounds that come with Sinew, and those that were kept."""

    bl_idname = "SINEW_PT_bounds_presets"
    bl_label = "Bounds Presets"
    preset_subdir = "sinew/bounds"
    preset_operator = "sinew.bounds_preset"
    preset_add_operator = "sinew.bounds_preset_add"


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
        far = which.row(align=True)
        far.active = item.use
        far.prop(item, "angle" if item.kind == "JOINT" else "reach", text="")


class SINEW_PT_bounds(SidebarPanel, bpy.types.Panel):
    """Learn a motion within bounds around it, and bake takes of any length from what was learned."""

    bl_idname = "SINEW_PT_bounds"
    bl_label = "Bounds"
    bl_order = 2
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Offer the presets."""
        if not why_no_armature(context.scene):
            SINEW_PT_bounds_presets.draw_panel_header(self.layout)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the bounds, painting, training, what was learned, and baking."""
        layout = self.layout
        obj = chosen_character(layout, context)
        if obj is None:
            return
        _draw_bounds(layout, obj)
        _draw_parts(layout, obj)
        _draw_painting(layout, context, obj)
        _draw_training(layout, context, obj)
        if problem := views.problem_of(obj.name):
            message_box(layout, context, problem.message, problem.hint, is_error=True)
        _draw_controller(layout, context, obj)
        if obj.sinew_bounds.file.strip() and files.view_of(obj).problem is None:
            _draw_baking(layout, context, obj)


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
    """A switch and a width beside each other; the width is pale where its bound is off."""
    used = getattr(own, f"use_{name}")
    row = layout.row(align=True, heading=label)
    row.prop(own, f"use_{name}", index=axis, text="")
    width = row.row(align=True)
    width.active = used if axis < 0 else used[axis]
    width.prop(own, name, index=axis, text="")


def _draw_parts(layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    header, body = layout.panel("SINEW_PT_bound_parts", default_closed=True)
    count = len(obj.sinew_bound_parts)
    header.label(text=f"Single Parts ({count})" if count else "Single Parts")
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


def _draw_training(layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object) -> None:
    scene = context.scene
    header, body = layout.panel("SINEW_PT_train_settings", default_closed=True)
    header.label(text="Training")
    if body is not None:
        settings = group_of(scene, asking.TRAIN)
        for name in asking.train_settings():
            if name != "strength" or settings.style != "none":
                body.prop(settings, name)
            if name == "style" and settings.style == "manner":
                body.prop(obj.sinew_bounds, "manner")
        body.prop(scene.sinew, "engine")
        body.prop(obj.sinew_bounds, "seed")
        body.prop(obj.sinew_bounds, "begin", placeholder="Nothing")
    if lacking := readiness.lacks_learning():
        box = message_box(layout, context, lacking.message, lacking.hint, is_error=False)
        box.operator("sinew.install_missing", icon="IMPORT")
    view = views.training_view(obj)
    if view is not None and view.alive:
        _draw_progress(layout, view)
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
