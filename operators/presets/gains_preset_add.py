# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep muscles as a preset of the user's own."""

import bpy

from .preset_verb import PresetAdd


class SINEW_OT_gains_preset_add(PresetAdd, bpy.types.Operator):
    """Add the character's muscles, and how much of them it uses, to the presets, or remove a preset."""

    bl_idname = "sinew.gains_preset_add"
    bl_label = "Add Muscles Preset"
    preset_menu = "SINEW_PT_gains_presets"
    preset_subdir = "sinew/gains"
    preset_defines = ["body = bpy.context.scene.sinew.armature.sinew_body"]
    preset_values = ["body.gains", "body.muscle"]
