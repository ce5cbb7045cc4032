# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a skill off the list."""

import bpy

from ...bridge.graph import skills
from ..list_rows import NeedsRows, chosen_row
from .graph_verb import GraphVerb


class SINEW_OT_graph_skill_remove(NeedsRows, GraphVerb, bpy.types.Operator):
    """Take the chosen skill off the list, with its transitions. Its Action stays, and so does what was learned."""

    bl_idname = "sinew.graph_skill_remove"
    bl_label = "Remove Skill"

    rows_path, no_rows = "sinew_skills", "There is no skill in the list: add one first"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove it."""
        index = chosen_row(obj, "sinew_skills", "sinew_skill_index")
        name = obj.sinew_skills[index].name
        gone = skills.remove_skill(obj, index)
        return f"'{name}' is off the list" + (f", and so are its transitions: {', '.join(gone)}" if gone else "")
