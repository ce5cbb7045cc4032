# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a take on its armature."""

import bpy

from ...bridge import takes
from ...bridge.takes import take_operations
from .take_verb import TakeVerb


class SINEW_OT_take_show(TakeVerb, bpy.types.Operator):
    """Let this take move the armature, and everything else that was on its stage. What moved it before stays here."""

    bl_idname = "sinew.take_show"
    bl_label = "Make Active"

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """The take's note, then what a click does."""
        obj = takes.take_owner(context)
        rows = obj.sinew_takes if obj is not None else ()
        action = rows[properties.index].action if 0 <= properties.index < len(rows) else None
        note = action.sinew_note if action is not None else ""
        return f"{note}\n{cls.__doc__}" if note else cls.__doc__

    def do(self, obj: bpy.types.Object) -> str:
        """Assign its Action and slot."""
        return take_operations.show_take(obj, self.index)
