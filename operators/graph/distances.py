# SPDX-License-Identifier: GPL-3.0-or-later
"""Show how far the skills are from each other."""

import bpy

from ...bridge.graph import recipes, views
from ...bridge.jobs.preparing import Recipe
from .graph_verb import GraphRecipeVerb


class SINEW_OT_graph_distances(GraphRecipeVerb, bpy.types.Operator):
    """Make a picture of how alike any two moments of the skills are, with the transitions of the list in it."""

    bl_idname = "sinew.graph_distances"
    bl_label = "Show Distances"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a skill."""
        return views.why_no_skills(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Make the picture, and show it where pictures are shown."""
        return recipes.distances_recipe(obj.name, context.scene.sinew.scale)
