# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the armature's library."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.library import recipes, views
from .library_verb import LibraryRecipeVerb


class SINEW_OT_library_picture(LibraryRecipeVerb, bpy.types.Operator):
    """Draw how fast the library's motion goes against how fast it turns, coloured by style: gaps show what it lacks."""

    bl_idname = "sinew.library_picture"
    bl_label = "Draw Library"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a library."""
        return views.why_no_library(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Draw it on a thread."""
        return recipes.picture_recipe(obj.name)
