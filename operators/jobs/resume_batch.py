# SPDX-License-Identifier: GPL-3.0-or-later
"""Go on with a batch that was paused."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor
from ..reporting import explains_errors


class SINEW_OT_resume_batch(bpy.types.Operator):
    """Go on with the variations that were paused, one after the other as before."""

    bl_idname = "sinew.resume_batch"
    bl_label = "Resume All"
    bl_options = {"REGISTER", "INTERNAL"}

    batch: StringProperty(name="Batch", description="The batch's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Take the pauses back; the queue does the rest."""
        for view in monitor.views_of_batch(self.batch):
            if view.paused:
                monitor.job_of(view.id).go_on()
                monitor.look(view.id)
        monitor.start_timer()
        return {"FINISHED"}
