# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion on another character."""

import bpy

from ...bridge.jobs.scene_request import request_of, why_no_request
from ...bridge.scene.report_lines import report_line
from ...bridge.takes import preview_range
from ...bridge.transfer import other_bodies
from ..reporting import SaysWhyNot, explains_errors, waiting


class SINEW_OT_put_on_selected(SaysWhyNot, bpy.types.Operator):
    """Put the chosen motion on the selected armature, by the roles of its bones, and choose that for simulation."""

    bl_idname = "sinew.put_on_selected"
    bl_label = "Put on Selected Armature"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a motion, and another armature that is to do it."""
        active = context.active_object
        if reason := why_no_request(context.scene):
            return reason
        if active is None or active.type != "ARMATURE" or active == context.scene.sinew.armature:
            return "Select the armature that is to do it: another one than the chosen"
        return ""

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Read the motion, put it on, and choose the other character."""
        scene, target = context.scene, context.active_object
        with waiting(context):
            source = other_bodies.read_chosen_motion(request_of(scene))
            action = other_bodies.put_on(source, target, None, scene.sinew.scale)
        scene.sinew.armature, scene.sinew.action = target, action
        preview_range.follow_action(target, action)
        report_line(self, "INFO", f"'{target.name}' has '{action.name}': simulate it, or learn it within bounds")
        return {"FINISHED"}
