# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a part of the body be as it was fitted."""

import bpy

from ...bridge.body import part_editing
from .part_verb import EditedPartVerb


class SINEW_OT_body_part_reset(EditedPartVerb, bpy.types.Operator):
    """Forget everything that was said of the active bone: role, shape, mass, limits and stiffness are as fitted."""

    bl_idname = "sinew.body_part_reset"
    bl_label = "Reset to Fitted"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove the bone's line."""
        part_editing.reset_edits(context.scene.sinew.armature, part_editing.active_bone(context))
        return {"FINISHED"}
