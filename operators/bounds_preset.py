# SPDX-License-Identifier: GPL-3.0-or-later
"""Take bounds from a preset."""

import bpy
from bpy.props import StringProperty

from ..bridge.bounds import painting
from .bounds_verb import BoundsVerb


class SINEW_OT_bounds_preset(BoundsVerb, bpy.types.Operator):
    """Take the bounds from this preset. What was painted by Loosen and Tighten Here stays."""

    bl_idname = "sinew.bounds_preset"
    bl_label = "Use Bounds Preset"
    # Blender's own operator for presets can't be undone.

    filepath: StringProperty(
        name="File", description="The preset's file", subtype="FILE_PATH", options={"HIDDEN", "SKIP_SAVE"}
    )

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """Run it. Its list of parts is another one, so that keys of the old one's would move the wrong ones."""
        for index in reversed(range(len(obj.sinew_bound_parts))):
            painting.forget_part(obj, index)
        bpy.ops.script.execute_preset(filepath=self.filepath, menu_idname="SINEW_PT_bounds_presets")
        obj.sinew_bound_part_index = 0
        keyed = " Keyed bounds keep their keys." if painting.is_keyed(obj, widths=True) else ""
        return f"Bounds are {bpy.path.display_name(bpy.path.basename(self.filepath))}.{keyed}"
