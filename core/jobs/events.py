# SPDX-License-Identifier: GPL-3.0-or-later
"""``events.jsonl``: one JSON object a line, appended in one write, read from where one stopped."""

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

from ..errors import JobError
from ..files import cannot_write, to_jsonable

Event = dict[str, Any]

TERMINAL = ("done", "failed", "cancelled")


def append_event(path: Path, kind: str, run: int, **fields: Any) -> None:
    """Add one event as a whole line. Only for the holder of the job's lock."""
    event = {"time": time.time(), "run": run, "kind": kind, **to_jsonable(fields)}
    line = (json.dumps(event, allow_nan=False) + "\n").encode()
    try:
        with path.open("ab", buffering=0) as stream:
            before = stream.tell()
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
    try:
        with path.open("r+b") as stream:
            data = stream.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                stream.truncate(whole)
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(path, error) from error


class EventReader:
    """Gives each event once. Keeps a byte offset, never an open file; a torn last line waits until it is whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0

    def poll(self) -> list[Event]:
        """The events that were added since the last call."""
        try:
            size = self.path.stat().st_size
            if size == self.offset:
                return []
            if size < self.offset:
                self.offset = 0  # not the file we knew: begin again
            with self.path.open("rb") as stream:
                stream.seek(self.offset)
                data = stream.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JobError(f"'{self.path}' cannot be read: {error.strerror}") from error
        whole = data.rfind(b"\n") + 1
        self.offset += whole
        return [event for line in data[:whole].splitlines() if (event := _parsed(line)) is not None]


def _parsed(line: bytes) -> Event | None:
    """The event, or None for a line that is not one (a power cut can leave zeros behind)."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    kinds = {"run": int, "kind": str, "time": float}
    whole = isinstance(event, dict) and all(isinstance(event.get(name), kind) for name, kind in kinds.items())
    return event if whole else None
