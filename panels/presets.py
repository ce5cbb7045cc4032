# SPDX-License-Identifier: GPL-3.0-or-later
"""Menus of presets, as Blender has them everywhere: those that come with Sinew, and those that the user has added."""

import bpy
from bl_ui.utils import PresetPanel


class SINEW_PT_body_presets(PresetPanel, bpy.types.Panel):
    """Bodies that come with Sinew, and those that were kept."""

    bl_idname = "SINEW_PT_body_presets"
    bl_label = "Body Presets"
    preset_subdir = "sinew/body"
    preset_operator = "sinew.body_preset"
    preset_add_operator = "sinew.body_preset_add"


class SINEW_PT_gains_presets(PresetPanel, bpy.types.Panel):
    """Muscles that come with Sinew, and those that were kept."""

    bl_idname = "SINEW_PT_gains_presets"
    bl_label = "Muscles Presets"
    preset_subdir = "sinew/gains"
    preset_operator = "sinew.gains_preset"
    preset_add_operator = "sinew.gains_preset_add"


class SINEW_PT_bounds_presets(PresetPanel, bpy.types.Panel):
    """Bounds that come with Sinew, and those that were kept."""

    bl_idname = "SINEW_PT_bounds_presets"
    bl_label = "Bounds Presets"
    preset_subdir = "sinew/bounds"
    preset_operator = "sinew.bounds_preset"
    preset_add_operator = "sinew.bounds_preset_add"


class SINEW_PT_style_presets(PresetPanel, bpy.types.Panel):
    """Styles that come with Sinew, and those that were kept."""

    bl_idname = "SINEW_PT_style_presets"
    bl_label = "Style Presets"
    preset_subdir = "sinew/style"
    preset_operator = "sinew.style_preset"
    preset_add_operator = "sinew.style_preset_add"


class SINEW_PT_disturbance_presets(PresetPanel, bpy.types.Panel):
    """Disturbances that come with Sinew, and those that were kept."""

    bl_idname = "SINEW_PT_disturbance_presets"
    bl_label = "Disturbance Presets"
    preset_subdir = "sinew/disturbance"
    preset_operator = "sinew.disturbance_preset"
    preset_add_operator = "sinew.disturbance_preset_add"


class SINEW_PT_push_presets(PresetPanel, bpy.types.Panel):
    """Pushes that come with Sinew, and those that were kept."""

    bl_idname = "SINEW_PT_push_presets"
    bl_label = "Push Presets"
    preset_subdir = "sinew/push"
    preset_operator = "sinew.push_preset"
    preset_add_operator = "sinew.push_preset_add"
