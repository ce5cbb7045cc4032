# SPDX-License-Identifier: GPL-3.0-or-later
"""Look again at what is ready."""

import bpy

from ...bridge.setup import readiness


class SINEW_OT_check_ready(bpy.types.Operator):
    """Ask the worker's Python again what it has, after something was installed or chosen."""

    bl_idname = "sinew.check_ready"
    bl_label = "Check Again"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Start asking; the panel shows the answer."""
        readiness.check_readiness()
        return {"FINISHED"}
