# SPDX-License-Identifier: GPL-3.0-or-later
"""Take muscles from a preset."""

import bpy

from .preset_verb import PresetUse


class SINEW_OT_gains_preset(PresetUse, bpy.types.Operator):
    """Take stiffness and strength of the character's joints from this preset."""

    bl_idname = "sinew.gains_preset"
    bl_label = "Use Muscles Preset"
    preset_menu = "SINEW_PT_gains_presets"
    what = "Muscles"
