# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work a little at a time: a generator goes to and fro between Blender's own thread, which alone may touch its
data, and another one for everything that needs none of it.

What the generator yields is either None, a pause in which Blender listens to its user, or a function to be called on
the other thread; what that gives is what the ``yield`` gives.
"""

import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import bpy

SLICE_S = 0.04
"""So long Blender does not listen to its user at a time."""

ResultT = TypeVar("Made")
Slices = Generator[Callable[[], Any] | None, Any, ResultT]


class TimeSlicedTask:
    """Steps that are taken one at a time. result: what they made, once they are done."""

    def __init__(self, steps: Slices[Any]) -> None:
        self.result: Any = None
        self._steps = steps
        self._thread: threading.Thread | None = None
        self._made: list[tuple[Any, BaseException | None]] = []

    def step(self) -> bool:
        """Do a piece of it here, or look whether the thread is done with its own; True when all of it is done."""
        made, error = None, None
        if self._thread is not None:
            if self._thread.is_alive():
                return False
            self._thread = None
            made, error = self._made.pop()
        try:
            todo = self._steps.throw(error) if error is not None else self._steps.send(made)
        except StopIteration as end:
            self.result = end.value
            return True
        if todo is not None:
            self._thread = threading.Thread(target=self._do, args=(todo,), daemon=True, name="sinew time slicing")
            self._thread.start()
        return False

    def close(self) -> None:
        """Let it be: the steps clean up after themselves. A thread ends by itself, and what it makes is dropped."""
        self._steps.close()

    def _do(self, todo: Callable[[], Any]) -> None:
        try:
            self._made.append((todo(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where it can be told
            self._made.append((None, error))


def run_all_slices(steps: Slices[ResultT]) -> ResultT:
    """Take all steps here and now, and give what they made."""
    made, error = None, None
    while True:
        try:
            todo = steps.throw(error) if error is not None else steps.send(made)
        except StopIteration as end:
            found: ResultT = end.value
            return found
        made, error = None, None
        if todo is not None:
            try:
                made = todo()
            except BaseException as raised:  # noqa: BLE001 - the steps clean up after themselves, and raise it again
                error = raised


def is_tool_active() -> bool:
    """Whether a tool is in the middle of something that a piece could disturb; what only passes by does not count."""
    windows = bpy.context.window_manager.windows
    return any("UNDO" in tool.bl_options for window in windows for tool in window.modal_operators)


def is_user_interacting() -> bool:
    """Whether something goes on that reading would disturb: playback, or a drag or another modal operator."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        if window.screen.is_animation_playing or len(getattr(window, "modal_operators", ())):
            return True
    return False
