# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep the learned controller with the .blend."""

import bpy

from ...bridge.bounds import files
from ...bridge.scene.chosen_armature import why_no_armature
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_bring_along(BoundsVerb, bpy.types.Operator):
    """Copy the learned controller into a folder beside the .blend, so that both can go to another machine together."""

    bl_idname = "sinew.bounds_bring_along"
    bl_label = "Copy Controller Beside .blend"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be a controller, and a place for it."""
        if reason := why_no_armature(context.scene):
            return reason
        obj = context.scene.sinew.armature
        if files.path_of(obj) is None:
            return f"'{obj.name}' has no controller yet: train one"
        if not bpy.data.filepath:
            return "The .blend was never saved: save it first"
        return "" if files.is_elsewhere(obj) else "The controller is beside the .blend already"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Copy it."""
        return f"Copied to '{files.bring_along(obj)}'"
