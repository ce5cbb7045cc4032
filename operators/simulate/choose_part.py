# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose which bones are simulated."""

import bpy
from bpy.props import EnumProperty

from ...bridge.jobs.part_choice import PART_ITEMS, WHOLE, choose_part, why_no_part_choice
from ...bridge.scene.report_lines import report_line
from ..reporting import SaysWhyNot, explains_errors


class SINEW_OT_choose_part(SaysWhyNot, bpy.types.Operator):
    """Simulate only a part of the body, and keep the rest as it is animated."""

    bl_idname = "sinew.choose_part"
    bl_label = "Choose Part"
    bl_options = {"REGISTER", "UNDO"}

    part: EnumProperty(items=PART_ITEMS, name="Part", description="What is simulated", default=WHOLE)

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """There must be an armature, and a method that simulates."""
        return why_no_part_choice(context.scene)

    @explains_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Fill in the bones."""
        bones = choose_part(context.scene, self.part)
        report_line(self, "INFO", f"Simulates {bones or 'the whole body'}")
        return {"FINISHED"}
