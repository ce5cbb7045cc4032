# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a push from a preset."""

import bpy

from ...bridge.stage.views import why_no_push
from .preset_verb import PresetUse


class SINEW_OT_push_preset(PresetUse, bpy.types.Operator):
    """Take how hard and how long the active push pushes from this preset."""

    bl_idname = "sinew.push_preset"
    bl_label = "Use Push Preset"
    preset_menu = "SINEW_PT_push_presets"
    what = "Push"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """A push must be active."""
        return why_no_push(context.active_object)
