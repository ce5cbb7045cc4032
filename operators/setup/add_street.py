# SPDX-License-Identifier: GPL-3.0-or-later
"""Somewhere to learn Sinew in."""

import bpy

from ...bridge.mannequin import example_walker, tutorial_street
from ...bridge.scene import viewport
from ...bridge.scene.report_lines import report_line
from ..reporting import explains_errors


class SINEW_OT_add_street(bpy.types.Operator):
    """Make a scene to learn in: a street with a kerb, boxes, a slope and a ball, and two who walk."""

    bl_idname = "sinew.add_street"
    bl_label = "Tutorial Street"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be Object Mode."""
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode first")
            return False
        return True

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the scene and show it."""
        render = context.scene.render
        scene = tutorial_street.add_street(render.fps, render.fps_base)
        if context.window is not None:
            context.window.scene = scene
        area = context.area
        if area is not None and area.type == "VIEW_3D":
            viewport.frame_points(area, example_walker.motion_points(scene, scene.sinew.armature))
        report_line(self, "INFO", f"'{scene.name}' is a scene of its own; the others are as they were")
        return {"FINISHED"}
