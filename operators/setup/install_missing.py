# SPDX-License-Identifier: GPL-3.0-or-later
"""Install what the worker's Python lacks."""

import bpy

from ...bridge.scene.report_lines import fit_line, report_line
from ...bridge.setup import installing, readiness
from ..reporting import explains_errors


class SINEW_OT_install_missing(bpy.types.Operator):
    """Download what is missing into a folder of Sinew's own. Blender's Python is left as it is."""

    bl_idname = "sinew.install_missing"
    bl_label = "Install What Is Missing"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something must be missing, and Blender must be allowed online."""
        known = readiness.current_readiness()
        if known is None or not known.version:
            cls.poll_message_set("Sinew does not know yet what is missing: wait a moment, or check again")
            return False
        reason = (
            installing.why_no_installation() if known.missing else "Nothing is missing: all that Sinew can use is there"
        )
        if reason:
            cls.poll_message_set(fit_line(reason))
        return not reason

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Start it; the panel shows how it goes."""
        known = readiness.current_readiness()
        installing.start_installation(known.missing, known.python)
        report_line(self, "INFO", "Installing: the panel shows how far it is")
        return {"FINISHED"}
