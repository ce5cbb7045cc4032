# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the transitions that the skills offer."""

import bpy

from ...bridge.graph import skills, transitions, views
from .graph_verb import GraphVerb


class SINEW_OT_graph_propose(GraphVerb, bpy.types.Operator):
    """Find where pose and speed of the skills are alike, and list enough of it that every skill leads to all others."""

    bl_idname = "sinew.graph_propose"
    bl_label = "Propose Transitions"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be two skills."""
        return views.why_no_skills(context.scene, least=2)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Add what is not on the list yet."""
        read = skills.collected(obj, context.scene.sinew.scale)
        count = transitions.propose(obj, read)
        skills.note_looks(obj, read)
        if not count:
            return "The list has all the transitions that are worth it"
        return f"{count} new transitions" if count != 1 else "1 new transition"
