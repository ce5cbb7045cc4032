# SPDX-License-Identifier: GPL-3.0-or-later
"""Give a hard moment more room."""

import bpy

from .paint import BoundsPaint


class SINEW_OT_bounds_loosen(BoundsPaint, bpy.types.Operator):
    """Make the bounds wider around the current frame, easing in and out. Press again for more."""

    bl_idname = "sinew.bounds_loosen"
    bl_label = "Loosen Here"

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Paint wider bounds."""
        return f"Bounds are {self.amount:g} times wider {self.paint(context, obj, self.amount)}"
