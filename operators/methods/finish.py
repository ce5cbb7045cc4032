# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop learning and keep the best so far."""

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor
from ..reporting import explains_errors


class FinishVerb:
    """Asks a job's worker for what it has."""

    # As with all that a worker does, the undo step is that of the bake.
    bl_options = {"REGISTER", "INTERNAL"}

    job: StringProperty(name="Job", description="The job's id", options={"HIDDEN", "SKIP_SAVE"})

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave the file that asks the worker for what it has."""
        monitor.job_of(self.job).finish()
        monitor.look(self.job)
        return {"FINISHED"}
