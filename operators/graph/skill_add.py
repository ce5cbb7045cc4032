# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect an Action as a skill."""

import bpy

from ...bridge.graph import skills
from ...bridge.scene.chosen_armature import why_no_armature
from .graph_verb import GraphVerb


class SINEW_OT_graph_skill_add(GraphVerb, bpy.types.Operator):
    """Add the Action that moves the character to its skills, to be learned."""

    bl_idname = "sinew.graph_skill_add"
    bl_label = "Add Active Action"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """An Action must move the character."""
        if reason := why_no_armature(context.scene):
            return reason
        obj = context.scene.sinew.armature
        return "" if skills.active_action(obj) else f"'{obj.name}' has no Action: give it one in the Action Editor"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Add it."""
        row = skills.add_skill(obj, skills.active_action(obj))
        return f"'{row.name}' is a skill of '{obj.name}'"
