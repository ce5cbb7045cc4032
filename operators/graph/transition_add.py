# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a transition by hand."""

import bpy
from bpy.props import StringProperty

from ...bridge.graph import recipes, views
from ...bridge.jobs.preparing import Recipe
from ...core.errors import GraphError
from .graph_verb import GraphRecipeVerb


class SINEW_OT_graph_transition_add(GraphRecipeVerb, bpy.types.Operator):
    """Add a transition from one skill to another, where they are most alike. Change its frames afterwards."""

    bl_idname = "sinew.graph_transition_add"
    bl_label = "Add Transition"

    changes_at_end = True

    source: StringProperty(name="From", description="The skill that it leaves", options={"SKIP_SAVE"})
    target: StringProperty(name="To", description="The skill that it enters", options={"SKIP_SAVE"})

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be two skills."""
        return views.why_no_skills(context.scene, least=2)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask for the two skills."""
        self.asked = True
        obj = context.scene.sinew.armature
        if not self.source:
            self.source = obj.sinew_skills[min(obj.sinew_skill_index, len(obj.sinew_skills) - 1)].name
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the two skills."""
        obj = context.scene.sinew.armature
        for name in ("source", "target"):
            self.layout.prop_search(self, name, obj, "sinew_skills")

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """Find the best moment and add it."""
        if not (self.source and self.target):
            raise GraphError("A transition leads from one skill to another", "Choose both")
        if self.source == self.target:
            raise GraphError(f"A transition from '{self.source}' to itself is none", "Choose another skill")
        return recipes.transition_recipe(obj.name, context.scene.sinew.scale, self.source, self.target)
