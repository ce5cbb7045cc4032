# SPDX-License-Identifier: GPL-3.0-or-later
"""Put back what was taken off the stage."""

import bpy
from bpy.props import StringProperty

from ...bridge.stage.stage_editing import find_in_scene, restore_role
from ..reporting import explains_errors


class SINEW_OT_stage_restore(bpy.types.Operator):
    """Put this object back on the stage as what it was, with all its values."""

    bl_idname = "sinew.stage_restore"
    bl_label = "Put Back on Stage"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    name: StringProperty(name="Object", description="Which object", options={"SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Give it its role again."""
        restore_role(find_in_scene(context.scene, self.name), context.scene.frame_current)
        return {"FINISHED"}
