# SPDX-License-Identifier: GPL-3.0-or-later
"""Go on with a job where it stopped."""

from collections.abc import Callable

import bpy
from bpy.props import StringProperty

from ...bridge.jobs import monitor, recipes
from ...bridge.jobs.preparing import Recipe
from ...core.errors import SinewError
from ..reporting import SlicedVerb


class SINEW_OT_resume(SlicedVerb, bpy.types.Operator):
    """Go on with this job where it stopped: after a pause, a cancel, a failure, or a worker that was killed."""

    bl_idname = "sinew.resume"
    bl_label = "Resume Job"
    bl_options = {"REGISTER", "INTERNAL"}

    job: StringProperty(name="Job", description="The job's id", options={"HIDDEN", "SKIP_SAVE"})

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Let the worker go on, or launch a new one on the same folder."""
        return recipes.resume_recipe(monitor.job_of(self.job))

    def failing(self, scene: bpy.types.Scene) -> Callable[[SinewError], None]:
        """Show it with the job."""
        job = self.job
        return lambda error: monitor.look(job, error)

    def reading(self, title: str) -> str:
        """Nothing is read."""
        return f"Going on with '{title}'"
