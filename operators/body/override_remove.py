# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Sinew find out again what a bone is."""

import bpy

from ..reporting import SaysWhyNot


class SINEW_OT_body_override_remove(SaysWhyNot, bpy.types.Operator):
    """Take the chosen bone off the list: its name and place say again what it is."""

    bl_idname = "sinew.body_override_remove"
    bl_label = "Remove Bone"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be one."""
        if reason := super().why_not(context):
            return reason
        overrides = context.scene.sinew.armature.sinew_body.overrides
        return "" if overrides else "There is no bone in the list: add one first"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove it."""
        body = context.scene.sinew.armature.sinew_body
        # The last line stands for a choice beyond the end, as an undo or a script may leave it.
        index = min(body.override_index, len(body.overrides) - 1)
        body.overrides.remove(index)
        body.override_index = max(min(index, len(body.overrides) - 1), 0)
        return {"FINISHED"}
