# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose what is selected in the 3D view."""

import bpy


class SINEW_OT_pick_selected(bpy.types.Operator):
    """Choose the active armature and the Action that moves it now."""

    bl_idname = "sinew.pick_selected"
    bl_label = "Use Selected Armature"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """An armature must be active, or a mesh that one deforms."""
        if _armature_of(context.active_object) is None:
            cls.poll_message_set("Select an armature, or a mesh that an armature deforms")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Fill in the panel's armature and Action."""
        armature = _armature_of(context.active_object)
        chosen = context.scene.sinew
        chosen.armature = armature
        chosen.action = armature.animation_data.action if armature.animation_data else None
        return {"FINISHED"}


def _armature_of(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    if obj is None or obj.type == "ARMATURE":
        return obj
    return obj.find_armature()
