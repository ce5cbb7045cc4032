# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the keys of bounds away."""

import bpy

from ...bridge.bounds import painting
from ...bridge.scene.chosen_armature import why_no_armature
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_clear_keys(BoundsVerb, bpy.types.Operator):
    """Take all keys of bounds out of the Action: they stay as wide as they are now, and nothing is painted any more."""

    bl_idname = "sinew.bounds_clear_keys"
    bl_label = "Clear Keys"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be keys."""
        if reason := why_no_armature(context.scene):
            return reason
        obj = context.scene.sinew.armature
        if painting.is_keyed(obj):
            return ""
        return f"The Action of '{obj.name}' has no keys of bounds: Loosen Here and Tighten Here make some"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Remove them."""
        count = painting.clear_bound_keys(obj)
        return f"Removed the keys of {count} bound{'' if count == 1 else 's'}"
