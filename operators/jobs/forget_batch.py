# SPDX-License-Identifier: GPL-3.0-or-later
"""Put a whole batch away."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor
from ..reporting import explains_errors


class SINEW_OT_forget_batch(bpy.types.Operator):
    """Take all jobs of this batch off the list. Their takes stay; what is not baked is not baked any more."""

    bl_idname = "sinew.forget_batch"
    bl_label = "Forget Batch"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    batch: StringProperty(name="Batch", description="The batch's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Forget every one that is not running."""
        monitor.forget_batch(self.batch)
        return {"FINISHED"}
