# SPDX-License-Identifier: GPL-3.0-or-later
"""Take bounds from a preset."""

import bpy
from bpy.props import StringProperty

from ...bridge.bounds import painting
from ..family_verb import FamilyVerb
from .preset_verb import run_preset


class SINEW_OT_bounds_preset(FamilyVerb, bpy.types.Operator):
    """Take the bounds from this preset. What was painted by Loosen and Tighten Here stays."""

    bl_idname = "sinew.bounds_preset"
    bl_label = "Use Bounds Preset"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}
    family = "bounds"

    filepath: StringProperty(
        name="File", description="The preset's file", subtype="FILE_PATH", options={"HIDDEN", "SKIP_SAVE"}
    )

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Run it. Its list of parts is another one, so that keys of the old one's would move the wrong ones."""
        count = len(obj.sinew_bound_parts)
        name = run_preset(self.filepath, "SINEW_PT_bounds_presets")
        for index in reversed(range(count)):
            painting.forget_part(obj, index)
        obj.sinew_bound_part_index = 0
        keyed = " Keyed bounds keep their keys." if painting.is_keyed(obj, widths=True) else ""
        return f"Bounds are {name}.{keyed}"
