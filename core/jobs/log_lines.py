# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker's log: one line a record, and below it a traceback that is set in, so that no name forges a record."""

import logging
from typing import TextIO

from ..texts import one_line

_SET_IN = "    "


class LineFormatter(logging.Formatter):
    """Time, level and message on one line each."""

    def format(self, record: logging.LogRecord) -> str:
        """The record on one line, and its traceback below."""
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        head = f"{self.formatTime(record)} {record.levelname} {one_line(record.getMessage())}"
        return "\n".join([head, *(f"{_SET_IN}{one_line(line)}" for line in trace.split("\n") if line)])


def log_to(stream: TextIO) -> None:
    """Send every record from now on to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
