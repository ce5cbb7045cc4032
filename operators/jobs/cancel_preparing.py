# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop reading a motion."""

import bpy
from bpy.props import IntProperty

from ...bridge.jobs import preparing
from ..reporting import explains_errors


class SINEW_OT_cancel_preparing(bpy.types.Operator):
    """Stop reading this motion; nothing is simulated then."""

    bl_idname = "sinew.cancel_preparing"
    bl_label = "Stop Reading"
    bl_options = {"REGISTER", "INTERNAL"}

    number: IntProperty(name="Number", description="Which one", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Let it be."""
        preparing.cancel_preparation(self.number)
        return {"FINISHED"}
