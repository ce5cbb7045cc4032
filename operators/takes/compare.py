# SPDX-License-Identifier: GPL-3.0-or-later
"""Switch between a take and its source."""

import bpy

from ...bridge.takes import take_operations
from .take_verb import TakeVerb


class SINEW_OT_take_compare(TakeVerb, bpy.types.Operator):
    """Switch between this take and the motion that it was made from. Press again to go back."""

    bl_idname = "sinew.take_compare"
    bl_label = "Compare With Source"

    def do(self, obj: bpy.types.Object) -> str:
        """Show the one that is not shown."""
        return take_operations.compare_take(obj, self.index)
