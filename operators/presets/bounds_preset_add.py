# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep bounds as a preset of the user's own."""

import bpy

from .preset_verb import PresetAdd

_VALUES = ("use_com", "com", "use_root", "root", "use_joints", "joints", "use_effectors", "effectors")


class SINEW_OT_bounds_preset_add(PresetAdd, bpy.types.Operator):
    """Add the character's bounds, as wide as they are now, to the presets, or remove a preset."""

    bl_idname = "sinew.bounds_preset_add"
    bl_label = "Add Bounds Preset"
    preset_menu = "SINEW_PT_bounds_presets"
    preset_subdir = "sinew/bounds"
    preset_defines = [
        "obj = bpy.context.scene.sinew.armature",
        "bounds = obj.sinew_bounds",
        "parts = obj.sinew_bound_parts",
    ]
    preset_values = [*(f"bounds.{name}" for name in _VALUES), "parts"]
