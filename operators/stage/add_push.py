# SPDX-License-Identifier: GPL-3.0-or-later
"""Push a bone."""

import bpy

from ...bridge.stage.stage_editing import add_push, select_only
from ..reporting import explains_errors


class SINEW_OT_stage_add_push(bpy.types.Operator):
    """Add an arrow that pushes the active bone from this frame on. Rotate it to push another way."""

    bl_idname = "sinew.stage_add_push"
    bl_label = "Add Push"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """An armature with an active bone must be active."""
        if _active_bone(context) is None:
            cls.poll_message_set("Select the bone to push, in Pose Mode")
            return False
        return True

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add the arrow and select it."""
        scene, armature = context.scene, context.active_object
        metres = scene.sinew.scale * scene.unit_settings.scale_length
        select_only(context, add_push(scene, armature, _active_bone(context).name, metres))
        return {"FINISHED"}


def _active_bone(context: bpy.types.Context) -> bpy.types.Bone | None:
    obj = context.active_object
    if obj is None or obj.type != "ARMATURE" or obj.mode == "EDIT":
        return None
    return obj.data.bones.active
