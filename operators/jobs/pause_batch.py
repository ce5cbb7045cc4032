# SPDX-License-Identifier: GPL-3.0-or-later
"""Let all jobs of a batch rest."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor
from ..reporting import explains_errors


class SINEW_OT_pause_batch(bpy.types.Operator):
    """Let the variation that is being simulated and those that wait rest until they are resumed."""

    bl_idname = "sinew.pause_batch"
    bl_label = "Pause All"
    bl_options = {"REGISTER", "INTERNAL"}

    batch: StringProperty(name="Batch", description="The batch's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Hold those that wait back first, so that none of them gets a turn."""
        for view in sorted(monitor.views_of_batch(self.batch), key=lambda view: view.alive):
            if view.queued or view.alive:
                monitor.job_of(view.id).pause()
                monitor.look(view.id)
        return {"FINISHED"}
