# SPDX-License-Identifier: GPL-3.0-or-later
"""Say something in the status bar on behalf of the monitor."""

import bpy
from bpy.props import EnumProperty, StringProperty

from ...bridge.scene.report_lines import report_line

_KINDS = (("INFO", "Info", "Good news"), ("WARNING", "Warning", "Something the user should know"))


class SINEW_OT_tell(bpy.types.Operator):
    """Show a message in the status bar."""

    bl_idname = "sinew.tell"
    bl_label = "Sinew Message"
    bl_options = {"INTERNAL"}

    text: StringProperty(name="Text", description="What to say", options={"HIDDEN", "SKIP_SAVE"})
    kind: EnumProperty(name="Kind", description="How to say it", items=_KINDS, options={"HIDDEN", "SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Report it."""
        report_line(self, self.kind, self.text)
        return {"FINISHED"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Wait for the next event: Blender shows what its own events report, not what a timer's calls do."""
        self._nudge = context.window_manager.event_timer_add(0.01, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Report it and be gone."""
        self.cancel(context)
        return self.execute(context) | {"PASS_THROUGH"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Leave no timer behind."""
        context.window_manager.event_timer_remove(self._nudge)
