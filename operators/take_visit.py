# SPDX-License-Identifier: GPL-3.0-or-later
"""Go from an armature to its baked copies and back."""

import bpy
from bpy.props import StringProperty

from ..bridge.stage.making import select_only
from ..core.errors import SinewError


class SINEW_OT_take_visit(bpy.types.Operator):
    """Select this armature and list its takes."""

    bl_idname = "sinew.take_visit"
    bl_label = "Go to Armature"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Armature", description="Which armature", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Select it and nothing else."""
        obj = context.scene.objects.get(self.name)
        if obj is None:
            self.report({"WARNING"}, f"There is no '{self.name}' in this scene any more")
            return {"CANCELLED"}
        try:
            select_only(context, obj)
        except SinewError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}
