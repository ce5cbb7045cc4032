# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the transitions that the skills offer."""

import bpy

from ...bridge.graph import recipes, views
from ...bridge.jobs.preparing import Recipe
from .graph_verb import GraphRecipeVerb


class SINEW_OT_graph_propose(GraphRecipeVerb, bpy.types.Operator):
    """Find where pose and speed of the skills are alike, and list enough of it that every skill leads to all others."""

    bl_idname = "sinew.graph_propose"
    bl_label = "Propose Transitions"

    changes_at_end = True

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be two skills."""
        return views.why_no_skills(context.scene, least=2)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Add what is not on the list yet."""
        return recipes.proposal_recipe(obj.name, context.scene.sinew.scale)
