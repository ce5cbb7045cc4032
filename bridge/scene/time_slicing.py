# SPDX-License-Identifier: GPL-3.0-or-later
"""Time slicing: long work as a generator that alternates between Blender's main thread, which alone may touch its data,
and a worker thread for everything that needs none of it.

What the generator yields is either None, a pause in which Blender handles events, or a function to be called on the
other thread; its result is what the ``yield`` gives.
"""

import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar

import bpy

SLICE_S = 0.04
"""Seconds for which Blender handles no events: the length of a slice."""

ResultT = TypeVar("Made")
Slices = Generator[Callable[[], Any] | None, Any, ResultT]


class TimeSlicedTask:
    """A generator of slices that is advanced one slice at a time. result: what it returned, once it is done."""

    def __init__(self, slices: Slices[Any]) -> None:
        self.result: Any = None
        self._slices = slices
        self._thread: threading.Thread | None = None
        self._made: list[tuple[Any, BaseException | None]] = []

    def step(self) -> bool:
        """Run the next slice here, or check whether the thread is done with its own; True when all of it is done."""
        made, error = None, None
        if self._thread is not None:
            if self._thread.is_alive():
                return False
            self._thread = None
            made, error = self._made.pop()
        try:
            todo = self._slices.throw(error) if error is not None else self._slices.send(made)
        except StopIteration as end:
            self.result = end.value
            return True
        if todo is not None:
            self._thread = threading.Thread(target=self._do, args=(todo,), daemon=True, name="sinew time slicing")
            self._thread.start()
        return False

    def close(self) -> None:
        """Stop: the generator cleans up after itself. A thread ends by itself, and its result is dropped."""
        self._slices.close()

    def _do(self, todo: Callable[[], Any]) -> None:
        try:
            self._made.append((todo(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where it can be told
            self._made.append((None, error))


def run_all_slices(slices: Slices[ResultT]) -> ResultT:
    """Run a generator of slices to its end here and now; gives what it returned."""
    made, error = None, None
    while True:
        try:
            todo = slices.throw(error) if error is not None else slices.send(made)
        except StopIteration as end:
            found: ResultT = end.value
            return found
        made, error = None, None
        if todo is not None:
            try:
                made = todo()
            except BaseException as raised:  # noqa: BLE001 - the generator cleans up after itself, and raises it again
                error = raised


def is_tool_active() -> bool:
    """Whether a modal operator runs that a slice could disturb; those without undo do not count."""
    windows = bpy.context.window_manager.windows
    return any("UNDO" in tool.bl_options for window in windows for tool in window.modal_operators)


def is_user_interacting() -> bool:
    """Whether something goes on that reading would disturb: playback, or a drag or another modal operator."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        if window.screen.is_animation_playing or len(getattr(window, "modal_operators", ())):
            return True
    return False
