# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Blender's own chatter (importers, renders, saves) off a command line's output."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def mute_output() -> Iterator[None]:
    """Send standard output to nowhere for a while, C code's too; errors still show."""
    if sys.stdout is None:  # a Blender with a window on Windows may have no output at all
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
