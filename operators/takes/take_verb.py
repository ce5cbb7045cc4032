# SPDX-License-Identifier: GPL-3.0-or-later
"""What the verbs about takes have in common."""

import bpy
from bpy.props import IntProperty

from ...bridge import takes
from ...bridge.scene.report_lines import fit_line, report_line
from ...core.errors import SinewError


class TakeVerb:
    """A part of an operator that does something with one of the listed armature's takes."""

    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(
        name="Take",
        description="Its place in the list, from 0; -1 for the chosen one",
        default=-1,
        min=-1,
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """There must be a take."""
        obj = takes.take_owner(context)
        if obj is None:
            cls.poll_message_set("Select an armature that has takes")
        elif not obj.sinew_takes:
            cls.poll_message_set(fit_line(f"'{obj.name}' has no takes yet: simulate its Action"))
        return obj is not None and bool(obj.sinew_takes)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it; what was done and why it cannot be done are both one sentence."""
        try:
            text = self.do(takes.take_owner(context))
        except SinewError as error:
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        report_line(self, "INFO", text)
        return {"FINISHED"}

    def do(self, obj: bpy.types.Object) -> str:
        """The verb itself, on an armature with takes; gives the sentence that says what was done."""
        raise NotImplementedError
