# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a skill off the list."""

import bpy

from ...bridge.graph import skills
from ...bridge.scene.chosen_armature import why_no_armature
from .graph_verb import GraphVerb


class SINEW_OT_graph_skill_remove(GraphVerb, bpy.types.Operator):
    """Take the chosen skill off the list, with its transitions. Its Action stays, and so does what was learned."""

    bl_idname = "sinew.graph_skill_remove"
    bl_label = "Remove Skill"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be one."""
        reason = why_no_armature(context.scene)
        return reason or (
            "" if context.scene.sinew.armature.sinew_skills else "There is no skill in the list: add one first"
        )

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove it."""
        # The last line stands for a choice beyond the end, as an undo or a script may leave it.
        index = min(obj.sinew_skill_index, len(obj.sinew_skills) - 1)
        name = obj.sinew_skills[index].name
        gone = skills.remove_skill(obj, index)
        return f"'{name}' is off the list" + (f", and so are its transitions: {', '.join(gone)}" if gone else "")
