# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop installing."""

import bpy

from ...bridge.setup import installing


class SINEW_OT_install_cancel(bpy.types.Operator):
    """Stop installing and remove what was begun. What was installed before stays."""

    bl_idname = "sinew.install_cancel"
    bl_label = "Cancel Installing"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something must be being installed."""
        if not installing.is_installing():
            cls.poll_message_set("Nothing is being installed: there is nothing to cancel")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave word for the process; it clears up by itself."""
        installing.cancel_installation()
        return {"FINISHED"}
