# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a job rest."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor
from ..reporting import explains_errors


class SINEW_OT_pause(bpy.types.Operator):
    """Let this job rest, so that it uses no processor, until it is resumed; also when Blender is closed meanwhile."""

    bl_idname = "sinew.pause"
    bl_label = "Pause Job"
    bl_options = {"REGISTER", "INTERNAL"}

    job: StringProperty(name="Job", description="The job's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave the file that the worker, or the queue, finds."""
        monitor.job_of(self.job).pause()
        monitor.look(self.job)
        return {"FINISHED"}
