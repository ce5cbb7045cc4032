# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a take, or no longer."""

import bpy

from ...bridge.takes import take_operations
from .take_verb import TakeVerb


class SINEW_OT_take_keep(TakeVerb, bpy.types.Operator):
    """Keep this take, or no longer. A kept one is never deleted without asking, and stays in the file even without its
    armature (its Action has a fake user, as by the shield in the Action Editor)."""

    bl_idname = "sinew.take_keep"
    bl_label = "Keep"

    def do(self, obj: bpy.types.Object) -> str:
        """Turn its Action's fake user on or off."""
        return take_operations.toggle_keep(obj, self.index)
