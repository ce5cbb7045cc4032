# SPDX-License-Identifier: GPL-3.0-or-later
"""Take disturbances from a preset."""

import bpy

from ...bridge.jobs.scene_request import why_no_variations
from .preset_verb import PresetUse


class SINEW_OT_disturbance_preset(PresetUse, bpy.types.Operator):
    """Take how the variations differ from this preset: pushes, weight, friction, gravity."""

    bl_idname = "sinew.disturbance_preset"
    bl_label = "Use Disturbance Preset"
    preset_menu = "SINEW_PT_disturbance_presets"
    what = "Variations"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Variations are the scene's own."""
        return why_no_variations(context.scene)
