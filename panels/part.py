# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of it: a frame range that is blended into its Action, and bones that are simulated alone."""

import bpy

from ..bridge.jobs.part_choice import can_choose_part
from ..bridge.jobs.scene_request import method_group

SETTINGS = ("bones", "softness")
"""The method's settings that are drawn here."""


def draw_part(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """A closed sub-panel with what is simulated of the motion."""
    chosen = scene.sinew
    header, body = layout.panel("SINEW_PT_part", default_closed=True)
    header.label(text="Part of It")
    if body is None:
        return
    body.prop(chosen, "use_range")
    if chosen.use_range:
        column = body.column(align=True)
        column.prop(chosen, "frame_start")
        column.prop(chosen, "frame_end")
        body.prop(chosen, "keep_rest")
        if chosen.keep_rest:
            body.prop(chosen, "fade_s")
    if can_choose_part(scene):
        settings = method_group(scene)
        row = body.row(align=True)
        row.prop(settings, "bones", placeholder="Whole Body")
        row.operator_menu_enum("sinew.choose_part", "part", text="", icon="DOWNARROW_HLT")
        if settings.bones.strip():
            body.prop(settings, "softness", slider=True)
