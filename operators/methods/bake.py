# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake a new motion from a learned file."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ..family_verb import FamilyRecipeVerb


class BakeVerb(FamilyRecipeVerb):
    """Starts the job that plays what was learned."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a learned file, and what it is played with."""
        return cls.adapter().why_not_bake(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Bake."""
        return self.adapter().bake(context.scene, obj)
