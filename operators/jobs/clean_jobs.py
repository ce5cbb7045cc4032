# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete old jobs' files."""

import bpy
from bpy.props import BoolProperty, IntProperty

from ...bridge.jobs import recipes
from ...bridge.jobs.preparing import Recipe
from ..reporting import SlicedVerb


class SINEW_OT_clean_jobs(SlicedVerb, bpy.types.Operator):
    """Delete the folders of old jobs, those of other files too. Running jobs and baked Actions stay."""

    bl_idname = "sinew.clean_jobs"
    bl_label = "Delete Old Jobs"
    bl_options = {"REGISTER", "UNDO"}  # files that are gone are gone, but the list of jobs is the .blend's

    changes_at_end = True

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
        self.asked = True
        return context.window_manager.invoke_props_dialog(self, confirm_text="Delete")

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """Clean the jobs folder."""
        return recipes.cleaning_recipe(self.days, keep_unbaked=self.keep_unbaked)

    def reading(self, title: str) -> str:
        """Nothing is read."""
        return "Deleting old jobs"
