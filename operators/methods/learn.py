# SPDX-License-Identifier: GPL-3.0-or-later
"""Learn in a worker process."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ..family_verb import FamilyRecipeVerb


class LearnVerb(FamilyRecipeVerb):
    """Reads what is to be learned from, and starts the job. What is learned is kept in a file; a take shows it."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be something to learn from."""
        return cls.adapter().why_not_learn(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Learn."""
        return self.adapter().learn(context.scene, obj)
