# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the other side of the body alike."""

import bpy

from ...bridge.body import part_editing
from ...bridge.scene.report_lines import report_line
from ..reporting import explains_errors, waiting
from .part_verb import EditedPartVerb


class SINEW_OT_body_part_mirror(EditedPartVerb, bpy.types.Operator):
    """Give the part on the other side of the body what was edited here, mirrored."""

    bl_idname = "sinew.body_part_mirror"
    bl_label = "Mirror to Other Side"
    bl_options = {"REGISTER", "UNDO"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write the other bone's line."""
        obj, bone = context.scene.sinew.armature, part_editing.active_bone(context)
        with waiting(context):
            other = part_editing.mirror_part_edit(context.scene, obj, bone)
        report_line(self, "INFO", f"'{other}' is now as '{bone}'")
        return {"FINISHED"}
