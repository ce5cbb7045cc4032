# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a cue."""

import bpy

from ...bridge.respond import cue_list
from .respond_verb import RespondVerb


class SINEW_OT_respond_cue_add(RespondVerb, bpy.types.Operator):
    """Ask for something at the current frame; what, you say in the list."""

    bl_idname = "sinew.respond_cue_add"
    bl_label = "Add Cue"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Add it behind the others."""
        cue = cue_list.add_cue(obj, context.scene.frame_current)
        return f"'{obj.name}' has a cue at frame {cue.frame}"
