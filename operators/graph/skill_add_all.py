# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect all Actions of the character as skills."""

import bpy

from ...bridge.graph import skills
from ...bridge.methods.job_inputs import own_actions
from ...core.errors import GraphError
from .graph_verb import GraphVerb


class SINEW_OT_graph_skill_add_all(GraphVerb, bpy.types.Operator):
    """Add every Action of the file that moves this character's bones, and is no take, to its skills."""

    bl_idname = "sinew.graph_skill_add_all"
    bl_label = "Add All Actions"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Add what is not on the list yet."""
        found = own_actions(obj)
        if not found:
            raise GraphError(f"No Action moves the bones of '{obj.name}'", "Import or make one")
        before = len(obj.sinew_skills)
        for action in found:
            skills.add_skill(obj, action)
        count = len(obj.sinew_skills) - before
        return f"{count} new skills" if count != 1 else "1 new skill"
