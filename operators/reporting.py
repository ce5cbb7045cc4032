# SPDX-License-Identifier: GPL-3.0-or-later
"""How an operator meets an error: a message in the status bar and in the panel, never a traceback."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..bridge.jobs import monitor, notices
from ..bridge.jobs.notices import Notice
from ..bridge.jobs.requests import Request
from ..bridge.jobs.scene_request import request_of, why_no_request
from ..core.errors import SinewError

Execute = Callable[[Any, bpy.types.Context], set[str]]


class NeedsMotion:
    """A part of an operator that can only be run once an armature and its motion are chosen."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what is missing."""
        reason = why_no_request(context.scene)
        if reason:
            cls.poll_message_set(reason)
        return not reason


class InPieces:
    """A part of an operator that a click begins and timers go on with; scripts have all of it done at once.

    The operator has ``prepare(context)``, which begins.
    """

    prepare: Callable[[bpy.types.Context], set[str]]

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A click: it is done in slices, so that nobody is kept waiting."""
        return self.prepare(context)


def explains_errors(execute: Execute) -> Execute:
    """Decorate ``execute``: a ``SinewError`` is reported, and kept for the panel where it belongs.

    An operator with a ``job`` shows it with that job, any other with the motion that is chosen. Anything
    that is not a ``SinewError`` is a bug and keeps its traceback.
    """

    @functools.wraps(execute)
    def wrapped(self: Any, context: bpy.types.Context) -> set[str]:
        try:
            return execute(self, context)
        except SinewError as error:
            if hasattr(self, "job"):
                monitor.look(self.job, error)
            else:
                notices.say(request_of(context.scene), (notices.error(error),))
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    return wrapped


def tell_doubts(operator: bpy.types.Operator, request: Request, doubts: tuple[Notice, ...], otherwise: str) -> None:
    """Keep what there is to doubt about a motion for the panel, and warn of it; without any, say ``otherwise``."""
    notices.say(request, doubts)
    for doubt in doubts:
        operator.report({"WARNING"}, doubt.message)
    if not doubts:
        operator.report({"INFO"}, otherwise)


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
