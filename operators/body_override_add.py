# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell Sinew what a bone is."""

import bpy


class SINEW_OT_body_override_add(bpy.types.Operator):
    """Add the character's active bone to the list, to say what it is in the body."""

    bl_idname = "sinew.body_override_add"
    bl_label = "Add Active Bone"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """The character must have an active bone."""
        armature = context.scene.sinew.armature
        if armature is None or armature.data.bones.active is None:
            cls.poll_message_set("Select a bone of the character in Pose Mode")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add it, or show where it is already."""
        armature = context.scene.sinew.armature
        body, bone = armature.sinew_body, armature.data.bones.active.name
        if body.overrides.find(bone) < 0:
            body.overrides.add().name = bone
        body.override_index = body.overrides.find(bone)
        return {"FINISHED"}
