# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure what a learned file is worth."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ..family_verb import FamilyRecipeVerb


class TestVerb(FamilyRecipeVerb):
    """Starts the job that measures what was learned; what it finds stands with it in the list of jobs."""

    __test__ = False  # it is no test of pytest's

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a learned file."""
        return cls.adapter().why_not_test(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Test."""
        return self.adapter().test(context.scene, obj)
