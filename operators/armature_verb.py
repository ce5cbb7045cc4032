# SPDX-License-Identifier: GPL-3.0-or-later
"""What the verbs about the chosen armature's skills and bounds have in common."""

from collections.abc import Callable

import bpy

from ..bridge.scene.chosen_armature import why_no_armature
from ..core.errors import SinewError
from .reporting import waiting


class ArmatureVerb:
    """A part of an operator that does something with the chosen armature.

    What was done and why it cannot be done are both one sentence; the second is shown in the panel, too, by ``say``,
    which is given the armature's name and what went wrong, or None.
    """

    bl_options = {"REGISTER", "UNDO"}
    say: Callable[[str, SinewError | None], None]

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Why it cannot be done, with the fix; '' if it can."""
        return why_no_armature(context.scene)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what is missing."""
        reason = cls.why_not(context)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it, with a busy cursor."""
        obj = context.scene.sinew.armature
        try:
            with waiting(context):
                text = self.do(context, obj)
        except SinewError as error:
            self.say(obj.name, error)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.say(obj.name, None)
        self.report({"INFO"}, text)
        return {"FINISHED"}

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """The verb itself; gives the sentence that says what was done."""
        raise NotImplementedError
