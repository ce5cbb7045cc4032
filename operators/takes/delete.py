# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete a take."""

import bpy
from bpy.props import BoolProperty

from ...bridge import takes
from ...bridge.scene.report_lines import fit_line, report_line
from ...bridge.takes import take_operations
from ...core.errors import SinewError
from .take_verb import TakeVerb


class SINEW_OT_take_delete(TakeVerb, bpy.types.Operator):
    """Delete this take and its Action. An Action that something else uses is only taken off the list."""

    bl_idname = "sinew.take_delete"
    bl_label = "Delete Take"

    anyway: BoolProperty(
        name="Anyway",
        description="Also delete a take that is kept or is in the NLA",
        default=False,
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask where something speaks for the take."""
        try:
            reason = take_operations.why_confirm_delete(takes.take_owner(context), self.index)
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        if not reason:
            return self.execute(context)
        self.anyway = True
        return context.window_manager.invoke_confirm(
            self, event, title="Delete Take?", message=fit_line(reason), confirm_text="Delete", icon="WARNING"
        )

    def do(self, obj: bpy.types.Object) -> str:
        """Remove it."""
        return take_operations.delete_take(obj, self.index, anyway=self.anyway)
