# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a style from a preset."""

import bpy

from .preset_verb import PresetUse


class SINEW_OT_style_preset(PresetUse, bpy.types.Operator):
    """Take the style in which the motion is to be learned, and how much it counts, from this preset."""

    bl_idname = "sinew.style_preset"
    bl_label = "Use Style Preset"
    preset_menu = "SINEW_PT_style_presets"
    what = "Style"
