# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a body from a preset."""

import bpy

from .preset_verb import PresetUse


class SINEW_OT_body_preset(PresetUse, bpy.types.Operator):
    """Take build, muscles and mass of the character from this preset."""

    bl_idname = "sinew.body_preset"
    bl_label = "Use Body Preset"
    preset_menu = "SINEW_PT_body_presets"
    what = "Body"
