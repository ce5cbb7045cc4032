# SPDX-License-Identifier: GPL-3.0-or-later
"""Rename a take."""

import bpy
from bpy.props import StringProperty

from ...bridge import takes
from ...bridge.scene.report_lines import report_line
from ...bridge.takes import take_operations
from ...core.errors import SinewError
from .take_verb import TakeVerb


class SINEW_OT_take_rename(TakeVerb, bpy.types.Operator):
    """Rename this take, which is its Action. A double click on its name does the same."""

    bl_idname = "sinew.take_rename"
    bl_label = "Rename Take"

    name: StringProperty(
        name="Name", description="What the take and its Action are to be called", options={"SKIP_SAVE"}
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask for the name, with the present one to begin with."""
        try:
            row = takes.row_at(takes.take_owner(context), self.index)
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        self.name = row.action.name if row.action else ""
        return context.window_manager.invoke_props_dialog(self, confirm_text="Rename")

    def do(self, obj: bpy.types.Object) -> str:
        """Rename its Action."""
        return take_operations.rename_take(obj, self.name, self.index)
