# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Blender's own chatter (importers, renders, saves) off a command line's output."""

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO


@contextmanager
def mute_output(errors: bool = False) -> Iterator[None]:
    """Send standard output to nowhere for a while, C code's too; errors still show, unless ``errors`` says so.

    errors: for importers, which print their tracebacks, and the names in files as they are.
    """
    if sys.stdout is None or (errors and sys.stderr is None):
        yield  # a Blender with a window on Windows may have no output at all
        return
    streams = {1: sys.stdout, 2: sys.stderr} if errors else {1: sys.stdout}
    _flush(streams.values())
    try:
        kept = {number: os.dup(number) for number in streams}
    except OSError:  # Python has streams, and the process none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in streams:
            os.dup2(nowhere, number)
        # Python's streams may be somebody else's, who does not write to where C does.
        with ExitStack() as stack, open(os.devnull, "w", encoding="utf-8") as nobody:
            for number in streams:
                stack.enter_context(redirect_stdout(nobody) if number == 1 else redirect_stderr(nobody))
            yield
    finally:
        _flush(streams.values())
        for number in streams:
            os.dup2(kept[number], number)
            os.close(kept[number])
        os.close(nowhere)


def _flush(streams: Iterable[TextIO]) -> None:
    """Let go of what was printed so far: Python's, and what C code keeps back while no terminal looks on."""
    for stream in streams:
        stream.flush()
    with suppress(OSError, AttributeError):  # a system whose C library is called otherwise
        ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
