# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a take on its armature."""

import bpy

from ...bridge.takes import take_operations
from .take_verb import TakeVerb


class SINEW_OT_take_show(TakeVerb, bpy.types.Operator):
    """Let this take move the armature, and everything else that was on its stage. What moved it before stays here."""

    bl_idname = "sinew.take_show"
    bl_label = "Make Active"

    def do(self, obj: bpy.types.Object) -> str:
        """Assign its Action and slot."""
        return take_operations.show_take(obj, self.index)
