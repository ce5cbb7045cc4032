# SPDX-License-Identifier: GPL-3.0-or-later
"""Go from an armature to its baked copies and back."""

import bpy
from bpy.props import StringProperty

from ...bridge.stage.stage_editing import find_in_scene, select_only
from ..reporting import explains_errors


class SINEW_OT_take_visit(bpy.types.Operator):
    """Select this armature and list its takes."""

    bl_idname = "sinew.take_visit"
    bl_label = "Go to Armature"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    name: StringProperty(name="Armature", description="Which armature", options={"SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select it and nothing else."""
        select_only(context, find_in_scene(context.scene, self.name))
        return {"FINISHED"}
