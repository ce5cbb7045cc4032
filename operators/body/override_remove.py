# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Sinew find out again what a bone is."""

import bpy

from ..list_rows import NeedsRows, remove_chosen_row


class SINEW_OT_body_override_remove(NeedsRows, bpy.types.Operator):
    """Take the chosen bone off the list: its name and place say again what it is."""

    bl_idname = "sinew.body_override_remove"
    bl_label = "Remove Bone"
    bl_options = {"REGISTER", "UNDO"}

    rows_path, no_rows = "sinew_body.overrides", "There is no bone in the list: add one first"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove it."""
        remove_chosen_row(context.scene.sinew.armature.sinew_body, "overrides", "override_index")
        return {"FINISHED"}
