# SPDX-License-Identifier: GPL-3.0-or-later
"""Take objects off the stage."""

import bpy
from bpy.props import StringProperty

from ...bridge.stage.stage_editing import clear_roles, find_in_scene
from ..reporting import explains_errors


class SINEW_OT_stage_clear(bpy.types.Operator):
    """Take the object off the stage. The object itself stays."""

    bl_idname = "sinew.stage_clear"
    bl_label = "Take off Stage"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(
        name="Object", description="Which object; empty for those that are selected", options={"SKIP_SAVE"}
    )

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clear the mark."""
        clear_roles([find_in_scene(context.scene, self.name)] if self.name else context.selected_objects)
        return {"FINISHED"}
