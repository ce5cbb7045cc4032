# SPDX-License-Identifier: GPL-3.0-or-later
"""Put what is selected on the stage."""

import bpy
from bpy.props import EnumProperty

from ...bridge.scene.report_lines import report_line
from ...bridge.stage.properties import LABELS, ROLES
from ...bridge.stage.stage_editing import assign_role
from ..reporting import explains_errors


class SINEW_OT_stage_mark(bpy.types.Operator):
    """Put the selected objects on the stage."""

    bl_idname = "sinew.stage_mark"
    bl_label = "Put on Stage"
    bl_options = {"REGISTER", "UNDO"}

    role: EnumProperty(items=ROLES[1:], name="Role", description="What they are on the stage", default="OBSTACLE")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Say what the role does."""
        return next(text for role, _, text, *_ in ROLES if role == properties.role)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something must be selected."""
        if not context.selected_objects:
            cls.poll_message_set("Select the objects that are to be on the stage")
            return False
        return True

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Give them the role."""
        chosen = context.selected_objects
        marked = assign_role(chosen, self.role, context.scene.frame_current)
        if len(marked) < len(chosen):
            report_line(self, "WARNING", f"{len(chosen) - len(marked)} of the selected objects cannot be that")
        else:
            report_line(self, "INFO", f"{LABELS[self.role]}: {', '.join(obj.name for obj in marked)}")
        return {"FINISHED"}
