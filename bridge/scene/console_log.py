# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sinew's modules log in Blender's own process: lines of its console, whatever the names in them hold.

Nobody else sets a format for them there. Python would print messages as they are, and with them names from files, jobs
and scenes.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from ...core.jobs.log_lines import ConsoleFormatter

_PACKAGE = __package__.removesuffix(".bridge.scene")


class _ConsoleHandler(logging.StreamHandler[TextIO]):
    """To the standard error of now: Blender, and who captures it, may put another one there."""

    def __init__(self) -> None:
        logging.Handler.__init__(self, logging.WARNING)
        self.setFormatter(ConsoleFormatter())

    @property
    def stream(self) -> TextIO:
        """Where to."""
        return sys.stderr


_handler = _ConsoleHandler()


def register() -> None:
    """Print what Sinew logs line by line, and leave it to nobody else, who would print it as it is."""
    log = logging.getLogger(_PACKAGE)
    log.addHandler(_handler)
    log.propagate = False


def unregister() -> None:
    """Leave it to whoever takes it, as it was."""
    log = logging.getLogger(_PACKAGE)
    log.removeHandler(_handler)
    log.propagate = True


@contextmanager
def log_in_lines() -> Iterator[None]:
    """The same for a while, for a command line without the add-on."""
    if _handler in logging.getLogger(_PACKAGE).handlers:
        yield
        return
    register()
    try:
        yield
    finally:
        unregister()
