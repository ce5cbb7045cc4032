# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a style as a preset of the user's own."""

import bpy

from .preset_verb import PresetAdd


class SINEW_OT_style_preset_add(PresetAdd, bpy.types.Operator):
    """Add the style, and how much it counts, to the presets, or remove a preset."""

    bl_idname = "sinew.style_preset_add"
    bl_label = "Add Style Preset"
    preset_menu = "SINEW_PT_style_presets"
    preset_subdir = "sinew/style"
    preset_defines = ["training = bpy.context.scene.sinew.methods.bounds_train"]
    # The Action in whose manner it is done is of one file, so it belongs to no preset.
    preset_values = ["training.style", "training.strength"]
