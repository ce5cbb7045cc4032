# SPDX-License-Identifier: GPL-3.0-or-later
"""What the verbs about the chosen armature have in common: those done at once, and those with a recipe."""

from collections.abc import Callable

import bpy
from bpy.props import BoolProperty

from ..bridge.jobs import preparing
from ..bridge.jobs.preparing import Recipe
from ..bridge.scene.report_lines import report_line
from ..core.errors import SinewError
from .reporting import SaysWhyNot, report_outcome, waiting


class ArmatureVerb(SaysWhyNot):
    """A part of an operator that does something with the chosen armature.

    What was done and why it cannot be done are both one sentence; the second is shown in the panel, too, by ``say``,
    which is given the armature's name and what went wrong, or None.
    """

    bl_options = {"REGISTER", "UNDO"}
    say: Callable[[str, SinewError | None], None]

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do it, with a busy cursor."""
        obj = context.scene.sinew.armature
        try:
            with waiting(context):
                text = self.do(context, obj)
        except SinewError as error:
            self.say(obj.name, error)
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        self.say(obj.name, None)
        report_line(self, "INFO", text)
        return {"FINISHED"}

    def do(self, context: bpy.types.Context, obj: bpy.types.Object) -> str:
        """The verb itself; gives the sentence that says what was done."""
        raise NotImplementedError


class RecipeVerb(ArmatureVerb):
    """One whose work is a recipe: a click has it done in slices of time, a script at once.

    One that asks the user first says so by ``asked``: Blender calls ``execute`` after that.
    changes_at_end: as for ``SlicedVerb``.
    """

    changes_at_end = False
    asked: BoolProperty(name="Asked", description="Whether it was confirmed", options={"SKIP_SAVE", "HIDDEN"})

    def recipe(self, context: bpy.types.Context, obj: bpy.types.Object) -> Recipe:
        """What is to be done."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: it is done a little at a time, so that nobody is kept waiting."""
        return self.prepare(context)

    def prepare(self, context: bpy.types.Context) -> set[str]:
        """Begin, and leave the rest to timers."""
        obj, say = context.scene.sinew.armature, self.say
        name = obj.name
        try:
            recipe = self.recipe(context, obj)
            started = preparing.begin_preparation(recipe, context.scene, lambda error: say(name, error))
        except SinewError as error:
            say(name, error)
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        say(name, None)
        return {"CANCELLED"} if self.changes_at_end and not started.is_done else {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Do all of it here and now, with a busy cursor; what was confirmed goes on as any click does."""
        if self.asked:
            return self.prepare(context)
        obj = context.scene.sinew.armature
        name = obj.name
        try:
            with waiting(context):
                outcome = preparing.do_at_once(self.recipe(context, obj), context.scene)
        except SinewError as error:
            self.say(name, error)
            report_line(self, "ERROR", str(error))
            return {"CANCELLED"}
        self.say(name, None)
        report_outcome(self, outcome)
        return {"FINISHED"}
