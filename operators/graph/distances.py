# SPDX-License-Identifier: GPL-3.0-or-later
"""Show how far the skills are from each other."""

import bpy

from ...bridge.graph import matrix, skills, views
from .graph_verb import GraphVerb


class SINEW_OT_graph_distances(GraphVerb, bpy.types.Operator):
    """Make a picture of how alike any two moments of the skills are, with the transitions of the list in it."""

    bl_idname = "sinew.graph_distances"
    bl_label = "Show Distances"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a skill."""
        return views.why_no_skills(context.scene)

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Make the picture, and show it where pictures are shown."""
        read = skills.collected(obj, context.scene.sinew.scale)
        image = matrix.image_of(obj, read)
        skills.note_looks(obj, read)
        shown = matrix.show(context, image)
        where = "in the Image Editor" if shown else "open it in an Image Editor"
        return f"Picture '{image.name}': {where}"
