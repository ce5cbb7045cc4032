# SPDX-License-Identifier: GPL-3.0-or-later
"""Propose style tags for the armature's Action."""

import bpy

from ...bridge.jobs.preparing import Recipe
from ...bridge.library import action_tags, recipes
from .library_verb import LibraryRecipeVerb


class SINEW_OT_library_tag_propose(LibraryRecipeVerb, bpy.types.Operator):
    """Mark where the Action stands, walks, runs, crouches, turns, goes back or sideways; you decide what counts."""

    bl_idname = "sinew.library_tag_propose"
    bl_label = "Propose Styles"

    changes_at_end = True

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be an Action."""
        return action_tags.why_no_action(context.scene)

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Read it, and mark what it does."""
        return recipes.propose_recipe(obj.name, context.scene.sinew.scale)
