# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a push as a preset of the user's own."""

import bpy

from ...bridge.stage.views import why_no_push
from .preset_verb import PresetAdd


class SINEW_OT_push_preset_add(PresetAdd, bpy.types.Operator):
    """Add how hard and how long the active push pushes to the presets, or remove a preset."""

    bl_idname = "sinew.push_preset_add"
    bl_label = "Add Push Preset"
    preset_menu = "SINEW_PT_push_presets"
    preset_subdir = "sinew/push"
    preset_defines = ["push = bpy.context.active_object.sinew"]
    preset_values = ["push.force", "push.duration"]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """A push must be active."""
        return why_no_push(context.active_object)
