# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep disturbances as a preset of the user's own."""

import bpy

from ...bridge.jobs.scene_request import why_no_variations
from .preset_verb import PresetAdd

_VALUES = (
    "least_n",
    "most_n",
    "side",
    "duration_s",
    "earliest",
    "latest",
    "throw",
    "mass",
    "friction",
    "gravity",
)


class SINEW_OT_disturbance_preset_add(PresetAdd, bpy.types.Operator):
    """Add pushes and whatever else varies to the presets, or remove a preset."""

    bl_idname = "sinew.disturbance_preset_add"
    bl_label = "Add Disturbance Preset"
    preset_menu = "SINEW_PT_disturbance_presets"
    preset_subdir = "sinew/disturbance"
    preset_defines = ["variations = bpy.context.scene.sinew.variations"]
    # How many takes there are is another question, and a bone is of one rig.
    preset_values = [f"variations.{name}" for name in _VALUES]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Variations are the scene's own."""
        return why_no_variations(context.scene)
