# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a transition off the list."""

import bpy

from ...bridge.graph import views
from ...bridge.scene.chosen_armature import why_no_armature
from .graph_verb import GraphVerb


class SINEW_OT_graph_transition_remove(GraphVerb, bpy.types.Operator):
    """Take the chosen transition off the list. To leave it out for a while, switch it off instead."""

    bl_idname = "sinew.graph_transition_remove"
    bl_label = "Remove Transition"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be one."""
        reason = why_no_armature(context.scene)
        there = not reason and bool(context.scene.sinew.armature.sinew_transitions)
        return "" if there else reason or "There is no transition in the list: propose some, or add one"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove it."""
        ways = obj.sinew_transitions
        index = min(obj.sinew_transition_index, len(ways) - 1)
        text = views.transition_text(ways[index])
        ways.remove(index)
        obj.sinew_transition_index = max(min(index, len(ways) - 1), 0)
        return f"Removed: {text}"
