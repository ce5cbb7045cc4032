# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a take of what was recorded."""

import bpy

from ...bridge.jobs import preparing
from ...bridge.live import running
from ...bridge.live.recipes import bake_recipe
from ...bridge.scene.report_lines import report_line
from ...core.errors import SinewError
from ..reporting import report_outcome, waiting


class SINEW_OT_live_bake(bpy.types.Operator):
    """Do what was recorded again without a window, and bake it as a new Action of everybody and everything."""

    bl_idname = "sinew.live_bake"
    bl_label = "Bake Recording"
    bl_options = {"REGISTER", "INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Something is recorded."""
        session = running.running()
        if session is None or session.recording is None:
            cls.poll_message_set("Nothing is recorded: Start Live and press Record, twice")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the job, and leave the rest to the monitor."""
        try:
            with waiting(context):
                outcome = preparing.do_at_once(bake_recipe(), context.scene)
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        report_outcome(self, outcome)
        return {"FINISHED"}
