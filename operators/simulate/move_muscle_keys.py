# SPDX-License-Identifier: GPL-3.0-or-later
"""Move keys of muscle to where they count."""

import bpy

from ...bridge.scene.report_lines import report_line
from ...bridge.takes import muscle_keys
from ..reporting import SaysWhyNot, explains_errors


class SINEW_OT_move_muscle_keys(SaysWhyNot, bpy.types.Operator):
    """Move the keys of muscle from the take that shows to the Action that it was made from, instead of those it has."""

    bl_idname = "sinew.move_muscle_keys"
    bl_label = "Move Keys to Source"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be some."""
        reason, obj = super().why_not(context), context.scene.sinew.armature
        if reason or muscle_keys.stray_take(obj) is not None:
            return reason
        return f"No take of '{obj.name}' that shows has keys of muscle: all that are set count"

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Move them."""
        report_line(self, "INFO", muscle_keys.move_muscle_keys(context.scene.sinew.armature))
        return {"FINISHED"}
