# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the chosen motion before simulating it."""

import bpy

from ...bridge.jobs import notices, preparing, requests
from ...bridge.jobs.scene_request import request_of
from ..reporting import InPieces, NeedsMotion, explains_errors, waiting


class SINEW_OT_check_source(InPieces, NeedsMotion, bpy.types.Operator):
    """Read the chosen Action and say what looks wrong with it: its keys, its size, its frame rate."""

    bl_idname = "sinew.check_source"
    bl_label = "Check Motion"
    bl_options = {"REGISTER"}

    @explains_errors
    def prepare(self, context: bpy.types.Context) -> set[str]:
        """Begin to read, and leave the rest to timers."""
        begun = preparing.check(request_of(context.scene), context.scene)
        self.report({"INFO"}, f"Reading '{begun.view.title}'")
        return {"FINISHED"}

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave what was found for the panel."""
        request = request_of(context.scene)
        with waiting(context):
            clip = requests.read(request).clip
            doubts = notices.doubts_about(clip)
        notices.say(request, doubts)
        for doubt in doubts:
            self.report({"WARNING"}, doubt.message)
        if not doubts:
            self.report({"INFO"}, f"'{clip.name}' looks right: {len(clip)} frames, {clip.duration_s:.2f} s")
        return {"FINISHED"}
