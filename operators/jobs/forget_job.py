# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a job off the list."""

import bpy
from bpy.props import BoolProperty, StringProperty

from ...bridge.jobs import monitor
from ..reporting import explains_errors


class SINEW_OT_forget_job(bpy.types.Operator):
    """Take this job off the list. Actions that were baked from it stay."""

    bl_idname = "sinew.forget_job"
    bl_label = "Forget Job"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    job: StringProperty(name="Job", description="The job's id", options={"HIDDEN", "SKIP_SAVE"})
    delete_files: BoolProperty(
        name="Delete Its Files",
        description="Also delete the job's folder, so that its result can never be baked again",
        default=False,
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask whether the files should go as well."""
        return context.window_manager.invoke_props_dialog(self, confirm_text="Forget")

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Put the job away."""
        monitor.forget(self.job, delete_files=self.delete_files)
        return {"FINISHED"}
