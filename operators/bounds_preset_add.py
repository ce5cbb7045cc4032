# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep bounds as a preset of the user's own."""

import bpy
from bl_operators.presets import AddPresetBase
from bpy.props import BoolProperty, StringProperty

_VALUES = ("use_com", "com", "use_root", "root", "use_joints", "joints", "use_effectors", "effectors")


class SINEW_OT_bounds_preset_add(AddPresetBase, bpy.types.Operator):
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

    # Blender's own, which have no tooltips.
    name: StringProperty(
        name="Name", description="What the preset is called in the menu", maxlen=64, options={"SKIP_SAVE"}
    )
    remove_name: BoolProperty(
        name="Remove", description="Remove the preset of that name instead", options={"HIDDEN", "SKIP_SAVE"}
    )
    remove_active: BoolProperty(
        name="Remove Active",
        description="Remove the preset that was used last instead",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a character to take them from."""
        if context.scene.sinew.armature is None:
            cls.poll_message_set("Choose an armature")
            return False
        return True
