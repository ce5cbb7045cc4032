# SPDX-License-Identifier: GPL-3.0-or-later
"""Go from the panel's list to the object."""

import bpy
from bpy.props import StringProperty

from ...bridge.stage.stage_editing import find_in_scene, select_only
from ..reporting import explains_errors


class SINEW_OT_stage_select(bpy.types.Operator):
    """Select this object and show its settings below the list."""

    bl_idname = "sinew.stage_select"
    bl_label = "Select"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    name: StringProperty(name="Object", description="Which object", options={"SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select it and nothing else."""
        select_only(context, find_in_scene(context.scene, self.name))
        return {"FINISHED"}
