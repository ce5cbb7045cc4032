# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the stage before simulating on it."""

import bpy

from ...bridge.jobs import notices, preparing, requests
from ...bridge.jobs.scene_request import request_of
from ...bridge.stage.views import summarize_stage
from ..reporting import InPieces, NeedsMotion, explains_errors, waiting


class SINEW_OT_stage_check(InPieces, NeedsMotion, bpy.types.Operator):
    """Read everything on the stage and say what cannot be simulated, or not as it looks."""

    bl_idname = "sinew.stage_check"
    bl_label = "Check Stage"
    bl_options = {"REGISTER"}

    @explains_errors
    def prepare(self, context: bpy.types.Context) -> set[str]:
        """Begin to read, and leave the rest to timers."""
        begun = preparing.check_stage(request_of(context.scene), context.scene)
        self.report({"INFO"}, f"Reading '{begun.view.title}' and the stage")
        return {"FINISHED"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Say what was found."""
        with waiting(context):
            request = request_of(context.scene)
            parts = requests.read_stage_for(request, requests.read(request))
        notices.forget_errors(request)
        for finding in parts.findings:
            self.report({"WARNING"}, f"{finding.message}. {finding.hint}")
        if not parts.findings:
            self.report({"INFO"}, summarize_stage(parts))
        return {"FINISHED"}
