# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the take of a live session again."""

import bpy

from ...bridge.jobs import preparing
from ...bridge.live.recipes import again_recipe, find_live_folder
from ...bridge.scene.report_lines import report_line
from ...core.errors import SinewError
from ..reporting import report_outcome, waiting


class SINEW_OT_live_again(bpy.types.Operator):
    """Do again what the shown take of a live session was made of: the same commands give the same bits."""

    bl_idname = "sinew.live_again"
    bl_label = "Make Again"
    bl_options = {"REGISTER", "INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The chosen armature has such a take."""
        if find_live_folder(context.scene.sinew.armature) is None:
            cls.poll_message_set("Choose an armature that shows a take of a live session")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Make the job, and leave the rest to the monitor."""
        try:
            with waiting(context):
                outcome = preparing.do_at_once(again_recipe(context.scene.sinew.armature), context.scene)
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        report_outcome(self, outcome)
        return {"FINISHED"}
