# SPDX-License-Identifier: GPL-3.0-or-later
"""A key moment of the Action, and when, where and how it is wanted."""

import bpy

from ..bridge.jobs.scene_request import settings_group_of
from .what import WhatPanel

_PACE = ("slowest", "fastest", "rigid_s")
_ENDS = ("hold_start", "hold_end")


class SINEW_PT_retime(WhatPanel, bpy.types.Panel):
    """Let the Action be at a place, facing a direction, at a frame, with its key pose kept; without physics."""

    bl_idname = "SINEW_PT_retime"
    bl_label = "Retime and Reach"
    bl_options = {"DEFAULT_CLOSED"}
    whats = ("ACTION",)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the key moment, what is wanted of it, and the button."""
        layout, scene = self.layout, context.scene
        own = scene.sinew.retime
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(own, "use_current")
        if not own.use_current:
            layout.prop(own, "frame")
        layout.prop(own, "use_at")
        if own.use_at:
            layout.prop(own, "at")
        _draw_goal(layout, scene)
        _draw_more(layout, scene)
        button = layout.column()
        button.scale_y = 1.3
        button.operator("sinew.retime_and_reach", icon="CON_FOLLOWPATH")


def _draw_goal(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    own, armature = scene.sinew.retime, scene.sinew.armature
    layout.prop(own, "goal")
    layout.prop(own, "facing")
    if own.goal != "NONE" or own.facing in ("TOWARDS", "TARGET"):
        layout.prop(own, "target")
    if own.goal == "REACH" and armature is not None:
        layout.prop_search(own, "bone", armature.data, "bones")
    if own.facing == "ANGLE":
        layout.prop(own, "heading")


def _draw_more(layout: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """What is rarely touched."""
    header, body = layout.panel("SINEW_PT_retime_more", default_closed=True)
    header.label(text="Pace and Ends")
    if body is None:
        return
    settings = settings_group_of(scene, "retime")
    for name in (*_PACE, *(("reach_s",) if scene.sinew.retime.goal == "REACH" else ()), *_ENDS):
        body.prop(settings, name)
