# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete all takes that nobody keeps."""

import bpy

from ...bridge import takes
from ...bridge.scene.report_lines import fit_line
from ...bridge.takes import take_operations
from .take_verb import TakeVerb


class SINEW_OT_take_delete_unkept(TakeVerb, bpy.types.Operator):
    """Delete every take of the armature that is neither kept nor in its NLA, whether the list shows it or not."""

    bl_idname = "sinew.take_delete_unkept"
    bl_label = "Delete All Not Kept"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be one."""
        if not super().poll(context):
            return False
        obj = takes.take_owner(context)
        if not take_operations.unkept_takes(obj):
            reason = f"Every take of '{obj.name}' is kept, linked or in the NLA: take a star off first"
            cls.poll_message_set(fit_line(reason))
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask, with their number."""
        count = len(take_operations.unkept_takes(takes.take_owner(context)))
        text = "1 take is not kept" if count == 1 else f"{count} takes are not kept"
        return context.window_manager.invoke_confirm(
            self, event, title="Delete All Not Kept?", message=fit_line(text), confirm_text="Delete", icon="WARNING"
        )

    def do(self, obj: bpy.types.Object) -> str:
        """Remove them."""
        return take_operations.delete_unkept(obj)
