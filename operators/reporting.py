# SPDX-License-Identifier: GPL-3.0-or-later
"""How an operator meets an error: a message in the status bar and in the panel, never a traceback."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import bpy
from bpy.props import BoolProperty

from ..bridge.jobs import monitor, notices, preparing
from ..bridge.jobs.preparing import Outcome, Recipe
from ..bridge.jobs.scene_request import request_of, why_no_request
from ..bridge.scene.chosen_armature import why_no_armature
from ..bridge.scene.report_lines import fit_line, report_line
from ..bridge.scene.stored_types import explain_junk
from ..core.errors import SinewError

Execute = Callable[[Any, bpy.types.Context], set[str]]


def asked_why_not(why_not: Callable[[], str]) -> str:
    """The reason; also one that nobody thought of, where the file itself is in the way of finding out."""
    try:
        return why_not()
    except Exception as error:
        if reason := explain_junk(error):
            return reason
        raise


class SaysWhyNot:
    """A part of an operator whose ``poll`` says why it cannot be done: without more, that no armature is chosen."""

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Why it cannot be done, with the fix; '' if it can."""
        return why_no_armature(context.scene)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what is missing."""
        reason = asked_why_not(lambda: cls.why_not(context))
        if reason:
            cls.poll_message_set(fit_line(reason))
        return not reason


class NeedsMotion:
    """A part of an operator that can only be run once an armature and its motion are chosen."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what is missing."""
        reason = asked_why_not(lambda: why_no_request(context.scene))
        if reason:
            cls.poll_message_set(fit_line(reason))
        return not reason


def explains_errors(execute: Execute) -> Execute:
    """Decorate ``execute``: a ``SinewError`` is reported, and kept for the panel where it belongs.

    An operator with a ``job`` shows it with that job, any other with the motion that is chosen. Anything
    else is a bug and keeps its traceback, unless the file stores what cannot be.
    """

    @functools.wraps(execute)
    def wrapped(self: Any, context: bpy.types.Context) -> set[str]:
        try:
            return execute(self, context)
        except Exception as error:
            if not (text := explain_junk(error)):
                raise
            with suppress(SinewError):  # also the motion's settings may be what is wrong; it is reported all the same
                _show_problem(self, context, error if isinstance(error, SinewError) else SinewError(text, "Try again"))
            report_line(self, "ERROR", text)
            return {"CANCELLED"}

    return wrapped


def _show_problem(operator: Any, context: bpy.types.Context, problem: SinewError) -> None:
    if hasattr(operator, "job"):
        monitor.look(operator.job, problem)
    else:
        notices.show_problem(request_of(context.scene), problem)


def report_outcome(operator: bpy.types.Operator, outcome: Outcome) -> None:
    """Report what a recipe says at its end."""
    for warning in outcome.warnings:
        report_line(operator, "WARNING", warning)
    if not outcome.warnings:
        report_line(operator, "INFO", outcome.said)


@contextmanager
def waiting(context: bpy.types.Context) -> Iterator[None]:
    """Show a busy cursor for a while."""
    if context.window is None:
        yield
        return
    context.window.cursor_modal_set("WAIT")
    try:
        yield
    finally:
        context.window.cursor_modal_restore()


class SlicedVerb:
    """A part of an operator that follows a recipe: in slices of time by a click, at once by a script.

    One that asks the user first, in a dialog or for a file, says so by ``asked``: Blender calls ``execute`` after that.
    changes_at_end: whether what it is for is changed at the end of its recipe, which makes a click's undo step then.
    """

    changes_at_end = False
    asked: BoolProperty(name="Asked", description="Whether it was confirmed", options={"SKIP_SAVE", "HIDDEN"})

    def recipe(self, scene: bpy.types.Scene) -> Recipe:
        """What is to be done."""
        raise NotImplementedError

    def failing(self, scene: bpy.types.Scene) -> Callable[[SinewError], None]:
        """What keeps an error of a click's recipe for the panel; that it is reported needs no more."""
        return lambda error: None

    def begun(self, scene: bpy.types.Scene) -> None:
        """What the operator itself changes once the recipe is begun."""

    def reading(self, title: str) -> str:
        """What is said while a click's recipe goes on."""
        return f"Reading '{title}'"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: it is done a little at a time, so that nobody is kept waiting."""
        return self.prepare(context)

    @explains_errors
    def prepare(self, context: bpy.types.Context) -> set[str]:
        """Begin, and leave the rest to timers."""
        scene = context.scene
        started = preparing.begin_preparation(self.recipe(scene), scene, self.failing(scene))
        self.begun(scene)
        report_line(self, "INFO", self.reading(started.view.title))
        return {"CANCELLED"} if self.changes_at_end and not started.is_done else {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """What was confirmed goes on as any click does; a script's is done here and now."""
        return self.prepare(context) if self.asked else self.do_at_once(context)

    @explains_errors
    def do_at_once(self, context: bpy.types.Context) -> set[str]:
        """Do all of it here and now."""
        with waiting(context):
            outcome = preparing.do_at_once(self.recipe(context.scene), context.scene)
        self.begun(context.scene)
        report_outcome(self, outcome)
        return {"FINISHED"}


class MotionVerb(NeedsMotion, SlicedVerb):
    """The same about the chosen motion, with which its errors are shown."""

    def failing(self, scene: bpy.types.Scene) -> Callable[[SinewError], None]:
        """Show it with the motion that is chosen now."""
        request = request_of(scene)
        return lambda error: notices.show_problem(request, error)


class SimulatingVerb(MotionVerb):
    """A part of an operator that simulates the chosen motion, and asks before it does so with what no body can do."""

    anyway: BoolProperty(
        name="Anyway", description="Simulate also what no body can do", default=False, options={"SKIP_SAVE"}
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: ask first, if the motion was looked at before and found impossible."""
        reason = notices.impossible_reason(request_of(context.scene))
        if not reason or self.anyway:
            return self.prepare(context)
        self.anyway = self.asked = True
        return context.window_manager.invoke_confirm(
            self, event, title="Simulate it anyway?", message=fit_line(reason), confirm_text="Simulate"
        )
