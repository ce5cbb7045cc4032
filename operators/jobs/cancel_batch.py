# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop all jobs of a batch."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor, queueing
from ..reporting import explains_errors


class SINEW_OT_cancel_batch(bpy.types.Operator):
    """Stop the variation that is being simulated and those that wait. What is done stays."""

    bl_idname = "sinew.cancel_batch"
    bl_label = "Cancel All"
    bl_options = {"REGISTER", "INTERNAL"}

    batch: StringProperty(name="Batch", description="The batch's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Take those that wait out of the queue first, so that none of them gets a turn."""
        for view in sorted(monitor.views_of_batch(self.batch), key=lambda view: view.alive):
            if view.queued or view.alive:
                queueing.cancel_waiting(monitor.job_of(view.id))
                monitor.look(view.id)
        return {"FINISHED"}
