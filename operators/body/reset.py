# SPDX-License-Identifier: GPL-3.0-or-later
"""Let the whole body be as it was fitted."""

import bpy

from ...bridge.body import part_editing
from ...bridge.scene.chosen_armature import why_no_armature


class SINEW_OT_body_reset(bpy.types.Operator):
    """Forget everything that was said of single bones: all roles, shapes, masses and limits are as fitted."""

    bl_idname = "sinew.body_reset"
    bl_label = "Reset Whole Body to Fitted"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be something to forget, and somebody to forget it."""
        reason = why_no_armature(context.scene)
        if not reason and not context.scene.sinew.armature.sinew_body.overrides:
            reason = "The whole body is as it was fitted: there is nothing to reset"
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove every line."""
        count = part_editing.reset_edits(context.scene.sinew.armature, "")
        self.report({"INFO"}, f"{count} bone{'s' * (count != 1)} reset")
        return {"FINISHED"}
