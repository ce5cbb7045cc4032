# SPDX-License-Identifier: GPL-3.0-or-later
"""Give a part of the body a bound of its own."""

import bpy

from ...bridge.bounds.properties import ONE_BONE
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_part_add(BoundsVerb, bpy.types.Operator):
    """Give a part of the body a bound of its own: that of the active bone, in Pose Mode, or the one you choose."""

    bl_idname = "sinew.bounds_part_add"
    bl_label = "Add Part"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Add a line."""
        bone = obj.data.bones.active if obj.mode == "POSE" else None
        row = obj.sinew_bound_parts.add()
        row.angle = obj.sinew_bounds.joints
        row.reach = obj.sinew_bounds.effectors
        if bone is not None:
            row.part, row.bone = ONE_BONE, bone.name
        obj.sinew_bound_part_index = len(obj.sinew_bound_parts) - 1
        return f"'{bone.name}' has a bound of its own" if bone is not None else "Choose the part, and how far it may be"
