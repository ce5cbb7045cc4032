# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a body as a preset of the user's own."""

import bpy

from .preset_verb import PresetAdd


class SINEW_OT_body_preset_add(PresetAdd, bpy.types.Operator):
    """Add the character's build, muscles and mass to the body presets, or remove a preset."""

    bl_idname = "sinew.body_preset_add"
    bl_label = "Add Body Preset"
    preset_menu = "SINEW_PT_body_presets"
    preset_subdir = "sinew/body"
    preset_defines = ["body = bpy.context.scene.sinew.armature.sinew_body"]
    # Bones are of one rig, and whether there is a mesh is too: neither belongs to a preset.
    preset_values = ["body.preset", "body.gains", "body.mass_kg"]
