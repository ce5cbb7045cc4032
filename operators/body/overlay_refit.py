# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit the body anew."""

import bpy

from ...bridge.body import fitted_bodies
from ...bridge.overlay import draw_handler
from ...bridge.scene.chosen_armature import why_editing
from ...bridge.scene.report_lines import fit_line, report_line
from ..reporting import explains_errors, waiting


class SINEW_OT_overlay_refit(bpy.types.Operator):
    """Read mesh and motion of the character again and fit its body to them, such as after the mesh was edited."""

    bl_idname = "sinew.overlay_refit"
    bl_label = "Fit Again"
    bl_options = {"REGISTER"}  # nothing of the file is changed

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a character that can be read."""
        obj = context.scene.sinew.armature
        reason = why_editing(obj) if obj is not None else "Choose an armature"
        if reason:
            cls.poll_message_set(fit_line(reason))
        return not reason

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: nobody waits for it; the overlay shows the body when it is fitted."""
        draw_handler.retry_drawing()
        fitted_bodies.refit(context.scene, context.scene.sinew.armature)
        report_line(self, "INFO", "The body is being fitted")
        return {"FINISHED"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Fit it now, and draw again whatever went wrong before."""
        draw_handler.retry_drawing()
        with waiting(context):
            fitted = fitted_bodies.fit_now(context.scene, context.scene.sinew.armature, again=True)
        if fitted.problem is not None:
            raise fitted.problem
        assert fitted.body is not None
        report_line(self, "INFO", f"A body of {len(fitted.body.links)} parts and {fitted.body.mass:.1f} kg")
        return {"FINISHED"}
