# SPDX-License-Identifier: GPL-3.0-or-later
"""Learn four styles of one motion, one after the other."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ..family_verb import FamilyRecipeVerb


class SINEW_OT_bounds_styles(FamilyRecipeVerb, bpy.types.Operator):
    """Learn the motion with more and less energy, and with more and less volume, each begun with this controller."""

    bl_idname = "sinew.bounds_styles"
    bl_label = "Learn Four Styles"
    family = "bounds"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a motion, and a controller to begin with."""
        return cls.adapter().why_not_styles(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Make the jobs; the monitor starts one after the other, and each comes home as a take."""
        return self.adapter().learn_styles(context.scene, obj)
