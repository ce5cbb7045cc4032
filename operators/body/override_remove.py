# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Sinew find out again what a bone is."""

import bpy

from ...bridge.scene.chosen_armature import why_no_armature


class SINEW_OT_body_override_remove(bpy.types.Operator):
    """Take the chosen bone off the list: its name and place say again what it is."""

    bl_idname = "sinew.body_override_remove"
    bl_label = "Remove Bone"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be one."""
        reason = why_no_armature(context.scene)
        if not reason and not context.scene.sinew.armature.sinew_body.overrides:
            reason = "There is no bone in the list: add one first"
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove it."""
        body = context.scene.sinew.armature.sinew_body
        # The last line stands for a choice beyond the end, as an undo or a script may leave it.
        index = min(body.override_index, len(body.overrides) - 1)
        body.overrides.remove(index)
        body.override_index = max(min(index, len(body.overrides) - 1), 0)
        return {"FINISHED"}
