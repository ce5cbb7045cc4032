# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a job's worker to stop."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor, queueing
from ..reporting import explains_errors


class SINEW_OT_cancel(bpy.types.Operator):
    """Stop this job. What it has done so far is kept, so that it can be resumed."""

    bl_idname = "sinew.cancel"
    bl_label = "Cancel Job"
    bl_options = {"REGISTER", "INTERNAL"}

    job: StringProperty(name="Job", description="The job's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave the cancel file for the worker to find, or take the job out of the queue."""
        queueing.cancel_waiting(monitor.job_of(self.job))
        monitor.look(self.job)
        return {"FINISHED"}
