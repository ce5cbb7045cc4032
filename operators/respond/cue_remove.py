# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a cue off the list."""

import bpy

from ...bridge.respond.cue_markers import show_cues
from ..list_rows import NeedsRows, remove_chosen_row
from .respond_verb import RespondVerb


class SINEW_OT_respond_cue_remove(NeedsRows, RespondVerb, bpy.types.Operator):
    """Take the chosen cue off the list."""

    bl_idname = "sinew.respond_cue_remove"
    bl_label = "Remove Cue"

    rows_path, no_rows = "sinew_cues", "There is no cue in the list: add one first"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove it."""
        index = remove_chosen_row(obj, "sinew_cues", "sinew_cue_index")
        show_cues(obj)
        return f"Cue {index + 1} is off the list"
