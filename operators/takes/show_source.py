# SPDX-License-Identifier: GPL-3.0-or-later
"""Show what a take was made from."""

import bpy

from ...bridge.takes import take_operations
from .take_verb import TakeVerb


class SINEW_OT_take_show_source(TakeVerb, bpy.types.Operator):
    """Let the motion that this take was made from move the armature again."""

    bl_idname = "sinew.take_show_source"
    bl_label = "Make Source Active"

    def do(self, obj: bpy.types.Object) -> str:
        """Assign the source Action and its slot."""
        return take_operations.show_take_source(obj, self.index)
