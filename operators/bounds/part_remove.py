# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a part of the body have the bound of all others."""

import bpy

from ...bridge.bounds import painting
from ...bridge.scene.chosen_armature import why_no_armature
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_part_remove(BoundsVerb, bpy.types.Operator):
    """Take the chosen part off the list, with its keys: what holds for all others holds for it again."""

    bl_idname = "sinew.bounds_part_remove"
    bl_label = "Remove Part"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be one."""
        reason = why_no_armature(context.scene)
        there = not reason and bool(context.scene.sinew.armature.sinew_bound_parts)
        return "" if there else reason or "There is no part in the list: add one first"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove it; the keys of those below it follow."""
        parts = obj.sinew_bound_parts
        index = min(obj.sinew_bound_part_index, len(parts) - 1)
        parts.remove(index)
        painting.forget_part(obj, index)
        obj.sinew_bound_part_index = max(min(index, len(parts) - 1), 0)
        return "Removed the part"
