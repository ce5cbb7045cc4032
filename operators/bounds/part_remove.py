# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a part of the body have the bound of all others."""

import bpy

from ...bridge.bounds import painting
from ..list_rows import NeedsRows, remove_chosen_row
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_part_remove(NeedsRows, BoundsVerb, bpy.types.Operator):
    """Take the chosen part off the list, with its keys: what holds for all others holds for it again."""

    bl_idname = "sinew.bounds_part_remove"
    bl_label = "Remove Part"

    rows_path, no_rows = "sinew_bound_parts", "There is no part in the list: add one first"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove it; the keys of those below it follow."""
        painting.forget_part(obj, remove_chosen_row(obj, "sinew_bound_parts", "sinew_bound_part_index"))
        return "Removed the part"
