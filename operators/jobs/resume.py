# SPDX-License-Identifier: GPL-3.0-or-later
"""Go on with a job where it stopped."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor
from ...bridge.scene.report_lines import report_line
from ..reporting import explains_errors, waiting


class SINEW_OT_resume(bpy.types.Operator):
    """Go on with this job where it stopped: after a pause, a cancel, a failure, or a worker that was killed."""

    bl_idname = "sinew.resume"
    bl_label = "Resume Job"
    bl_options = {"REGISTER", "INTERNAL"}

    job: StringProperty(name="Job", description="The job's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Let the worker go on, or launch a new one on the same folder."""
        job = monitor.job_of(self.job)
        with waiting(context):
            said = monitor.go_on(job, context.scene)
        report_line(self, "INFO", said)
        return {"FINISHED"}
