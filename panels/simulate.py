# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do with the motion, and the button that does it."""

import bpy

from ..bridge.jobs import monitor, notices, source_fixes
from ..bridge.jobs.notices import Notice
from ..bridge.jobs.scene_request import method_group, request_of, setting_names, uses_engine, why_no_request
from ..bridge.scene.report_lines import fit_line
from ..bridge.setup import preferences
from ..bridge.takes import muscle_keys
from . import part
from .advanced import draw_method_settings, draw_rare, shows_advanced
from .drawing import message_box, paragraph
from .job_buttons import draw_bar
from .what import WhatPanel


class SINEW_PT_simulate(WhatPanel, bpy.types.Panel):
    """Choose a method and simulate."""

    bl_idname = "SINEW_PT_simulate"
    bl_label = "Simulate"
    bl_options = {"HIDE_HEADER"}
    whats = ("ACTION",)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the method, its settings, the source, the button and what there is to say about the motion."""
        layout, scene = self.layout, context.scene
        layout.use_property_split = True
        layout.use_property_decorate = False
        _draw_method(layout, context)
        part.draw_part(layout, scene)
        _draw_details(layout, scene)
        reason = why_no_request(scene)
        if reason:
            paragraph(layout, context, reason, icon="INFO")
        layout.operator("sinew.check_source", icon="VIEWZOOM")
        button = layout.column()
        button.scale_y = 1.6
        button.operator("sinew.simulate", icon="PLAY")
        # Jobs may be far below: how far it is stands where it was started.
        running = [view for view in monitor.watched_jobs() if view.alive]
        if running:
            draw_bar(layout, running[0])
        _draw_notices(layout, context)


def _draw_method(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    scene, chosen = context.scene, context.scene.sinew
    draw_rare(layout, scene, chosen, ("method",))
    names = [name for name in setting_names(scene) if name not in part.SETTINGS]
    draw_method_settings(layout.column(), scene, chosen.method, method_group(scene), names)
    if uses_engine(scene) and chosen.armature is not None:
        _draw_muscle(layout, context)
    draw_rare(layout, scene, chosen, ("place",))


def _draw_muscle(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The field, the key that goes into the source whatever shows, and keys that went elsewhere."""
    scene, obj = context.scene, context.scene.sinew.armature
    keys = muscle_keys.view_muscle_keys(obj, scene.sinew.action, scene.frame_current_final)
    row = layout.row(align=True)
    row.prop(obj.sinew_body, "muscle")
    row.operator("sinew.key_muscle", text="", icon="DECORATE_KEYFRAME" if keys.here else "DECORATE_ANIMATE")
    if keys.here:
        row.operator("sinew.key_muscle", text="", icon="X").remove = True
    if keys.keyed and keys.elsewhere:  # the field shows what is keyed only while its Action shows
        paragraph(layout, context, f"Keyed in '{keys.source}': {keys.value:.0%} at this frame", icon="KEYINGSET")
    if keys.stray:
        text = f"Muscle is keyed in the take '{keys.stray}', where it does nothing"
        box = message_box(layout, context, text, "", is_error=False)
        box.operator("sinew.move_muscle_keys", icon="KEY_HLT")


def _draw_details(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """What is rarely touched."""
    body = layout
    if shows_advanced(scene):
        header, body = layout.panel("SINEW_PT_source", default_closed=True)
        header.label(text="Units and Engine")
    if body is None:
        return
    names = ("true_fps", "scale", *(("engine",) if uses_engine(scene) else ()), "seed")
    draw_rare(body, scene, scene.sinew, names)
    if (own := preferences.own_preferences()) is not None:
        draw_rare(body, scene, own, ("where",))


def _draw_notices(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """What is wrong with what was asked for, and what looks wrong with the motion: one box, with a button for each."""
    request = request_of(context.scene)
    known = (*notices.of(request), *notices.of_takes(context.scene.sinew.armature, request.action))
    for notice in known:
        if notice.is_error:
            message_box(layout, context, notice.message, notice.hint, is_error=True)
    doubts = [notice for notice in known if not notice.is_error]
    if not doubts:
        return
    box = layout.box()
    for notice in doubts:
        _draw_doubt(box, context, notice)
    if len([notice for notice in doubts if notice.fix]) > 1:
        box.operator("sinew.fix_source", text="Fix All", icon="CHECKMARK")


def _draw_doubt(box: bpy.types.UILayout, context: bpy.types.Context, notice: Notice) -> None:
    icon = "ERROR" if notice.is_impossible else "INFO"
    paragraph(box, context, notice.message, icon=icon, alert=notice.is_impossible)
    if notice.offer:
        box.operator(notice.offer, icon="CON_FOLLOWPATH")
    if not notice.fix:
        paragraph(box, context, notice.hint, icon="BLANK1")
        return
    # A fix that a button applies needs no words.
    label = source_fixes.fix_label(context.scene, notice.fix, notice.value)
    button = box.operator("sinew.fix_source", text=fit_line(label), icon="MODIFIER")
    button.fix, button.value = notice.fix, notice.value
