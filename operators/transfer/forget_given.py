# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a body be fitted that was given."""

import bpy

from ...bridge.scene.chosen_armature import why_no_armature
from ..reporting import SaysWhyNot


class SINEW_OT_forget_given_body(SaysWhyNot, bpy.types.Operator):
    """Forget the masses, joints and limits that came with the model: the body is fitted as any other then."""

    bl_idname = "sinew.forget_given_body"
    bl_label = "Forget Given Body"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be one."""
        armature = context.scene.sinew.armature
        if reason := why_no_armature(context.scene):
            return reason
        return "" if armature.sinew_body.given else f"'{armature.name}' has no given body: its own is fitted"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Forget it."""
        context.scene.sinew.armature.sinew_body.given = ""
        return {"FINISHED"}
