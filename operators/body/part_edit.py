# SPDX-License-Identifier: GPL-3.0-or-later
"""Begin to edit a part of the body."""

import bpy

from ...bridge.body import part_editing
from ..reporting import explains_errors, waiting
from .part_verb import PartVerb


class SINEW_OT_body_part_edit(PartVerb, bpy.types.Operator):
    """Edit shape, mass, limits and stiffness of the active bone's part, starting from what was fitted."""

    bl_idname = "sinew.body_part_edit"
    bl_label = "Edit Part by Hand"
    bl_options = {"REGISTER", "UNDO"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the bone's line, or bring what is not ticked in it up to date."""
        with waiting(context):
            part_editing.begin_edit(context.scene, context.scene.sinew.armature, part_editing.active_bone(context))
        return {"FINISHED"}
