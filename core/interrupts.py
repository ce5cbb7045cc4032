# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl-C on a command line: the process ends at once and leaves nothing behind, and no step is cut in two.

An exception is no good in most places: raised in Python that Blender called, it is printed and forgotten, and raised
while Blender's module is being loaded, it takes the process down. So a command line lives in ``leave_on_interrupt``,
which ends the process from the signal's handler; where it waits for a job it is in ``raise_on_interrupt``, and hears of
it as ``KeyboardInterrupt``; and what must be whole or not at all is in ``finish_first``, after which it comes.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from .child_python import end_children

INTERRUPTED = 130
"""The exit code of a command that was interrupted."""

Handler = Callable[[int, FrameType | None], Any]

_steps: list[None] = []  # that are to be finished first, one within the other
_waiting: list[Handler] = []  # what an interrupt is to do after them
_folders: list[str] = []  # to be removed whichever way this process ends


@contextlib.contextmanager
def leave_on_interrupt() -> Iterator[None]:
    """While it lasts, Ctrl-C ends this process at once: children that are only ours with it, and temporary files."""
    if not _may_listen():
        yield
        return
    before = tempfile.tempdir
    with _handler(_leave), tempfile.TemporaryDirectory(prefix="sinew-", ignore_cleanup_errors=True) as folder:
        _folders.append(folder)
        tempfile.tempdir = folder
        try:
            yield
        finally:
            tempfile.tempdir = before
            _folders.remove(folder)


def leave_from_now_on() -> None:
    """The same until something else is said: for a Blender that was started for a command and is yet to come to it."""
    if _may_listen():
        signal.signal(signal.SIGINT, _leave)


@contextlib.contextmanager
def raise_on_interrupt() -> Iterator[None]:
    """While it lasts, Ctrl-C raises ``KeyboardInterrupt``, as Python does it."""
    if not _may_listen():
        yield
        return
    with _handler(signal.default_int_handler):
        yield


@contextlib.contextmanager
def interrupt_on_terminate() -> Iterator[None]:
    """While it lasts, SIGTERM is as good as Ctrl-C: by it a farm asks a task to end, and its worker would live on."""
    if not _may_listen():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


@contextlib.contextmanager
def finish_first() -> Iterator[None]:
    """Do not let Ctrl-C in between: it comes at the end of this block, or of the function that this decorates."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _steps.append(None)
    try:
        yield
    finally:
        _steps.pop()
        if _waiting and not _steps:
            _waiting.pop()(signal.SIGINT, None)


def _may_listen() -> bool:
    """Signals are the main thread's; a shell's background job is not to hear of Ctrl-C, and stays so."""
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


@contextlib.contextmanager
def _handler(handle: Handler) -> Iterator[None]:
    def hear(number: int, frame: FrameType | None) -> None:
        if _steps:
            _waiting[:] = [handle]
        else:
            handle(number, frame)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        # Blender's own handler is no Python function, and can only be told so.
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def remove_temporary_files() -> None:
    """For who ends this process without Python's or Blender's own tidying: the temporary folders of both."""
    blenders = getattr(getattr(sys.modules.get("bpy"), "app", None), "tempdir", "")
    for folder in (*_folders, blenders):
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _leave(number: int, frame: FrameType | None) -> None:
    end_children()
    remove_temporary_files()
    with contextlib.suppress(OSError):
        os.write(2, b"\nsinew: cancelled\n" if sys.stderr.isatty() else b"sinew: cancelled\n")
    os._exit(INTERRUPTED)
