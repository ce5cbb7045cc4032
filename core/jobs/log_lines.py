# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs of a worker and of Blender: one line a record, and below it a traceback that is set in.

So no name forges a record, and none commands the terminal that a record is shown on.
"""

import logging
from typing import TextIO

from ..texts import one_line

_SET_IN = "    "


class LineFormatter(logging.Formatter):
    """Time, level and message on one line each."""

    def format(self, record: logging.LogRecord) -> str:
        """The record on one line, and its traceback below."""
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        head = f"{self.begin(record)} {one_line(record.getMessage())}"
        return "\n".join([head, *(f"{_SET_IN}{one_line(line)}" for line in trace.split("\n") if line)])

    def begin(self, record: logging.LogRecord) -> str:
        """What stands before the message."""
        return f"{self.formatTime(record)} {record.levelname}"


class ConsoleFormatter(LineFormatter):
    """Whose message it is, among those of Blender and of other add-ons."""

    def begin(self, record: logging.LogRecord) -> str:
        """What stands before the message."""
        return "sinew:"


def log_to(stream: TextIO) -> None:
    """Send every record from now on to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
