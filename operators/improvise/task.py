# SPDX-License-Identifier: GPL-3.0-or-later
"""Learn a task with what improvises, in a worker process."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ..family_verb import FamilyRecipeVerb


class SINEW_OT_improvise_task(FamilyRecipeVerb, bpy.types.Operator):
    """Learn a task in the background, moving as it improvises. What is learned is kept in a file."""

    bl_idname = "sinew.improvise_task"
    bl_label = "Learn Task"
    family = "improvise"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be an improviser, and nobody who is at it already."""
        return cls.adapter().why_not_learn_task(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Learn the task."""
        return self.adapter().learn_task(context.scene, obj)
