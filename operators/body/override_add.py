# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell Sinew what a bone is."""

import bpy

from .part_verb import PartVerb


class SINEW_OT_body_override_add(PartVerb, bpy.types.Operator):
    """Add the character's active bone to the list, to say what it is in the body."""

    bl_idname = "sinew.body_override_add"
    bl_label = "Add Active Bone"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add it, or show where it is already."""
        armature = context.scene.sinew.armature
        body, bone = armature.sinew_body, armature.data.bones.active.name
        if body.overrides.find(bone) < 0:
            body.overrides.add().name = bone
        body.override_index = body.overrides.find(bone)
        return {"FINISHED"}
