# SPDX-License-Identifier: GPL-3.0-or-later
"""Play the motion at the frame rate that fits gravity."""

import bpy
from bpy.props import FloatProperty


class SINEW_OT_use_frame_rate(bpy.types.Operator):
    """Take the motion as recorded at this frame rate. The result is as long as it then really is."""

    bl_idname = "sinew.use_frame_rate"
    bl_label = "Use This Frame Rate"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    fps: FloatProperty(
        name="Frame Rate", description="Frames a second; 0 for the scene's", min=0.0, max=1000.0, options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set the true frame rate."""
        context.scene.sinew.true_fps = self.fps
        return {"FINISHED"}
