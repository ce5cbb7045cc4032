# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the learned graph with the .blend."""

import bpy

from ...bridge.graph import files
from ...bridge.scene.chosen_armature import why_no_armature
from .graph_verb import GraphVerb


class SINEW_OT_graph_bring_along(GraphVerb, bpy.types.Operator):
    """Copy the learned graph into a folder beside the .blend, so that both can go to another machine together."""

    bl_idname = "sinew.graph_bring_along"
    bl_label = "Copy Graph Beside .blend"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a graph, and a place for it."""
        if reason := why_no_armature(context.scene):
            return reason
        obj = context.scene.sinew.armature
        if files.path_of(obj) is None:
            return f"'{obj.name}' has no graph yet: learn its skills"
        if not bpy.data.filepath:
            return "The .blend was never saved: save it first"
        return "" if files.is_elsewhere(obj) else "The graph is beside the .blend already"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Copy it."""
        return f"Copied to '{files.bring_along(obj)}'"
