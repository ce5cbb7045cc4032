# SPDX-License-Identifier: GPL-3.0-or-later
"""``events.jsonl``: one JSON object a line, appended in one write, read from where one stopped, a slice at a time."""

import errno
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import limits
from ..errors import BadFile, JobError
from ..files import PUBLIC, cannot_write, open_to_read, open_to_write, to_jsonable
from .event_checks import Event, check_event

TERMINAL = ("done", "failed", "cancelled")

_PROGRESS = b'"kind": "progress"'


def append_event(path: Path, kind: str, run: int, *, mode: int = PUBLIC, **fields: Any) -> None:
    """Add one event as a whole line. Only for the holder of the job's lock. mode: permissions of a new file."""
    event = {"time": time.time(), "run": run, "kind": kind, **to_jsonable(fields)}
    line = (json.dumps(event, allow_nan=False) + "\n").encode()
    handle = open_to_write(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode)
    try:
        with os.fdopen(handle, "ab", buffering=0) as stream:
            before = stream.seek(0, os.SEEK_END)
            written = stream.write(line)
            if written != len(line):
                # A disk that fills up takes a part of the line; without it the file ends whole.
                stream.truncate(before)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if kind in TERMINAL:
                os.fsync(stream.fileno())
    except OSError as error:
        raise cannot_write(path, error) from error


def cut_torn_tail(path: Path) -> None:
    """Cut a line that a kill left unfinished, so that the next one starts on its own."""
    if not os.path.lexists(path):
        return
    handle = open_to_write(path, os.O_RDWR)
    try:
        with os.fdopen(handle, "r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size > limits.EVENTS_BYTES:
                said = f"{size / limits.MIB:.0f} MB, and at most {limits.EVENTS_BYTES / limits.MIB:.0f} MB are read"
                raise JobError(f"'{path}' is too large: {said}", "Forget the job, and start it anew")
            whole = _end_of_last_line(stream, size)
            if whole < size:
                stream.truncate(whole)
    except OSError as error:
        raise cannot_write(path, error) from error


def _end_of_last_line(stream: Any, size: int) -> int:
    """Behind the last line break; looked for from the end, for the file may be long."""
    end = size
    while end > 0:
        first = max(0, end - limits.EVENT_SLICE_BYTES)
        stream.seek(first)
        at = stream.read(end - first).rfind(b"\n")
        if at >= 0:
            return int(first + at + 1)
        end = first
    return 0


class EventReader:
    """Gives each event once. Keeps a byte offset, never an open file; a torn last line waits until it is whole.

    behind: whether there is more to read than a line that is not whole yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.behind = False
        self._in_long_line = False
        self._passed_over = 0

    def poll(self) -> list[Event]:
        """Every event that is new."""
        return [event for events in self.slices() for event in events]

    def slices(self) -> Iterator[list[Event]]:
        """The same a little at a time, some milliseconds each; who stops in between goes on there the next time."""
        self.look()
        while self.behind:
            yield self._read_slice()

    def look(self) -> None:
        """See whether there is anything new."""
        self.behind = False
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        except OSError as error:
            raise JobError(f"'{self.path}' cannot be read: {error.strerror}") from error
        if size < self.offset:
            self.offset = 0  # not the file we knew: begin again
        self.behind = size > self.offset

    def _read_slice(self) -> list[Event]:
        try:
            with open_to_read(self.path, limits.EVENTS_BYTES) as stream:
                size = os.fstat(stream.fileno()).st_size
                stream.seek(self.offset)
                data = stream.read(limits.EVENT_SLICE_BYTES)
                if b"\n" not in data:
                    data += stream.read(limits.EVENT_LINE_BYTES - len(data))
        except BadFile as error:
            raise JobError(error.message, "Forget the job, and start it anew") from error
        except OSError as error:
            raise JobError(f"'{self.path}' cannot be read: {error.strerror}") from error
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].splitlines()
        if lines and self._in_long_line:
            del lines[0]  # the end of a line that was too long
        if whole:
            self._in_long_line = False
        elif len(data) >= limits.EVENT_LINE_BYTES:
            whole, self._in_long_line = len(data), True
        self.offset += whole
        self.behind = bool(whole) and size > self.offset
        if size - self.offset > limits.EVENTS_FAR_BEHIND_BYTES:
            lines = [line for line in lines if self._is_wanted(line)]
        return [event for line in lines if (event := check_event(line)) is not None]

    def _is_wanted(self, line: bytes) -> bool:
        """All but most reports of progress: of so many they would not be seen in a curve."""
        if _PROGRESS not in line:
            return True
        self._passed_over = (self._passed_over + 1) % limits.EVENTS_THINNED_TO
        return self._passed_over == 0
