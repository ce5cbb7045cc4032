# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a body as a preset of the user's own."""

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, StringProperty


class SINEW_OT_body_preset_add(AddPresetBase, bpy.types.Operator):
    """Add the character's build, muscles and mass to the body presets, or remove a preset."""

    bl_idname = "sinew.body_preset_add"
    bl_label = "Add Body Preset"
    preset_menu = "SINEW_PT_body_presets"
    preset_subdir = "sinew/body"
    preset_defines = ["body = bpy.context.scene.sinew.armature.sinew_body"]
    # Bones are of one rig, and whether there is a mesh is too: neither belongs to a preset.
    preset_values = ["body.preset", "body.gains", "body.mass_kg"]

    # Blender's own, which have no tooltips.
    name: StringProperty(
        name="Name", description="What the preset is called in the menu", maxlen=64, options={"SKIP_SAVE"}
    )
    remove_name: BoolProperty(
        name="Remove", description="Remove the preset of that name instead", options={"HIDDEN", "SKIP_SAVE"}
    )
    remove_active: BoolProperty(
        name="Remove Active",
        description="Remove the preset that was used last instead",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a character to take it from."""
        if context.scene.sinew.armature is None:
            cls.poll_message_set("Choose an armature")
            return False
        return True
