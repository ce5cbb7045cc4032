# SPDX-License-Identifier: GPL-3.0-or-later
"""Let the whole body be as it was fitted."""

import bpy

from ...bridge.body import part_editing
from ...bridge.scene.report_lines import report_line
from ..list_rows import NeedsRows


class SINEW_OT_body_reset(NeedsRows, bpy.types.Operator):
    """Forget everything that was said of single bones: all roles, shapes, masses and limits are as fitted."""

    bl_idname = "sinew.body_reset"
    bl_label = "Reset Whole Body to Fitted"
    bl_options = {"REGISTER", "UNDO"}

    rows_path, no_rows = "sinew_body.overrides", "The whole body is as it was fitted: there is nothing to reset"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove every line."""
        count = part_editing.reset_edits(context.scene.sinew.armature, "")
        report_line(self, "INFO", f"{count} bone{'s' * (count != 1)} reset")
        return {"FINISHED"}
