# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a transition off the list."""

import bpy

from ...bridge.graph import views
from ..list_rows import NeedsRows, chosen_row, remove_chosen_row
from .graph_verb import GraphVerb


class SINEW_OT_graph_transition_remove(NeedsRows, GraphVerb, bpy.types.Operator):
    """Take the chosen transition off the list. To leave it out for a while, switch it off instead."""

    bl_idname = "sinew.graph_transition_remove"
    bl_label = "Remove Transition"

    rows_path, no_rows = "sinew_transitions", "There is no transition in the list: propose some, or add one"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove it."""
        names = "sinew_transitions", "sinew_transition_index"
        text = views.transition_text(obj.sinew_transitions[chosen_row(obj, *names)])
        remove_chosen_row(obj, *names)
        return f"Removed: {text}"
