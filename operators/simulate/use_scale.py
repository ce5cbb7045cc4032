# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the character's size to be right in other units."""

import bpy
from bpy.props import FloatProperty


class SINEW_OT_use_scale(bpy.types.Operator):
    """Take a Blender unit to be this many metres for the character. The scene itself stays as it is."""

    bl_idname = "sinew.use_scale"
    bl_label = "Use This Scale"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    factor: FloatProperty(
        name="Factor", description="What to multiply the metres a unit by", default=1.0, min=1e-6, options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set the metres a unit."""
        context.scene.sinew.scale *= self.factor
        return {"FINISHED"}
