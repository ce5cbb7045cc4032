# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete old jobs' files."""

import bpy
from bpy.props import BoolProperty, IntProperty

from ...bridge.jobs import monitor
from ...bridge.scene.report_lines import report_line
from ...core import jobs
from ..reporting import explains_errors, waiting


class SINEW_OT_clean_jobs(bpy.types.Operator):
    """Delete the folders of old jobs, those of other files too. Running jobs and baked Actions stay."""

    bl_idname = "sinew.clean_jobs"
    bl_label = "Delete Old Jobs"
    bl_options = {"REGISTER", "UNDO"}  # files that are gone are gone, but the list of jobs is the .blend's

    days: IntProperty(
        name="Older Than (Days)",
        description="Delete jobs on which nothing happened for so many days",
        default=30,
        min=0,
    )
    keep_unbaked: BoolProperty(
        name="Keep Unbaked Results", description="Leave finished jobs whose result was never baked", default=True
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask how old."""
        return context.window_manager.invoke_props_dialog(self, confirm_text="Delete")

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clean the jobs folder."""
        with waiting(context):
            gone = jobs.clean_jobs(older_than_days=self.days, keep_uncollected=self.keep_unbaked)
        monitor.drop_deleted()
        report_line(self, "INFO", f"Deleted {len(gone)} {'job' if len(gone) == 1 else 'jobs'} in '{jobs.jobs_root()}'")
        return {"FINISHED"}
