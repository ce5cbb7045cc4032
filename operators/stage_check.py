# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the stage before simulating on it."""

import bpy

from ..bridge import requests
from ..bridge.properties import request_of
from .reporting import NeedsMotion, explains_errors, waiting


class SINEW_OT_stage_check(NeedsMotion, bpy.types.Operator):
    """Read everything on the stage and say what cannot be simulated, or not as it looks."""

    bl_idname = "sinew.stage_check"
    bl_label = "Check Stage"
    bl_options = {"REGISTER"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Say what was found."""
        with waiting(context):
            request = request_of(context.scene)
            parts, _ = requests.read_stage_for(request, requests.read(request))
        for finding in parts.findings:
            self.report({"WARNING"}, f"{finding.message}. {finding.hint}")
        if not parts.findings:
            counts = f"{len(parts.obstacles)} obstacles, {len(parts.props)} props and projectiles"
            self.report({"INFO"}, f"The stage looks right: {counts}, {len(parts.pushes)} pushes")
        return {"FINISHED"}
