# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake a finished job's result."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import baking, learned_results, monitor, requests
from ...bridge.scene.report_lines import report_line
from ...bridge.takes import preview_range
from ..reporting import explains_errors, waiting


class SINEW_OT_collect(bpy.types.Operator):
    """Bake this job's result as a new Action; the one that it was made from stays as it is."""

    bl_idname = "sinew.collect"
    bl_label = "Bake Result"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    job: StringProperty(name="Job", description="The job's id", options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: it is done a little at a time, so that nobody is kept waiting."""
        return self.prepare(context)

    @explains_errors
    def prepare(self, context: bpy.types.Context) -> set[str]:
        """Begin, and leave the rest to timers; the undo step is that of the bake itself."""
        monitor.bake(self.job)
        report_line(self, "INFO", f"Baking '{monitor.job_of(self.job).spec.title}'")
        return {"CANCELLED"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Write the take, or keep what was learned where there is none; the undo step is this operator's."""
        job = monitor.job_of(self.job)
        with waiting(context):
            if learned_results.only_learns(job):
                said = f"Learned '{learned_results.collect_learned(job, baking.pop_prepared_learned(self.job)).name}'"
            else:
                written = requests.collect(job, baking.pop_prepared_takes(self.job))
                preview_range.follow_action(written.obj, written.action)
                said = f"Baked '{written.action.name}' on '{written.obj.name}'"
        monitor.look(self.job)
        report_line(self, "INFO", said)
        return {"FINISHED"}
