# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a moment that matters more tightly."""

import bpy

from .paint import BoundsPaint


class SINEW_OT_bounds_tighten(BoundsPaint, bpy.types.Operator):
    """Make the bounds tighter around the current frame, easing in and out. Press again for more."""

    bl_idname = "sinew.bounds_tighten"
    bl_label = "Tighten Here"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Paint tighter bounds."""
        return f"Bounds are {self.amount:g} times tighter {self.paint(context, obj, 1.0 / self.amount)}"
