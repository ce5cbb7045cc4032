# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's end of a live session: starts the worker, hears it, talks to it, and ends it when it is hung."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...child_python import start_python
from ...errors import JobError
from ...files import mode_in, open_to_write
from ..job import Job
from ..launching import find_worker_python
from .wire import MOST_TOLD_BYTES, BadMessage, PoseMessage, Wire, pack_mapping

_ENTRY = Path(__file__).resolve().parents[2] / "entry.py"
_QUIET_S = 15.0
"""Seconds without a word, of a worker that is not paused, from which on it is hung."""
_QUIET_PREPARING_S = 120.0
_MOST_BACKLOG = 1024 * 1024
SESSION_FOLDER = "sinew-live-"
"""How the name of a session's own folder begins: it goes with Blender, or with the worker if that is killed."""


class LiveLink:
    """A running live worker. newest: the last pose that came. ended: why it is over, '' as long as it is not."""

    def __init__(self, job: Job, python: str | None = None) -> None:
        path = find_worker_python(python)
        ours, theirs = socket.socketpair()
        self.ended = ""
        self.newest: PoseMessage | None = None
        self.sent = 0
        self.paused = self.ready = False
        try:
            with os.fdopen(
                open_to_write(job.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode_in(job.folder)), "ab"
            ) as log:
                self.process = _start(path, theirs, job, log)
        except OSError as error:
            ours.close()
            raise JobError(f"The live worker cannot be started ({path}): {error.strerror}", "Try again") from error
        finally:
            theirs.close()
        self._wire = Wire(ours, MOST_TOLD_BYTES)
        self._heard_s = time.monotonic()

    def read(self) -> list[dict[str, Any]]:
        """What the worker has said besides poses, of which the newest is kept; never waits."""
        told: list[dict[str, Any]] = []
        if self.ended:
            return told
        try:
            self._wire.flush()
            for message in self._wire.read():
                self._heard_s = time.monotonic()
                if isinstance(message, PoseMessage):
                    self.newest = message
                else:
                    told.append(message)
        except BadMessage as error:
            self._end(str(error))
            return told
        self.ready |= any(message.get("kind") == "ready" for message in told)
        if self._wire.closed:
            self._end("The live worker has ended")
        elif time.monotonic() - self._heard_s > (_QUIET_S if self.ready else _QUIET_PREPARING_S) and not self.paused:
            self._end("The live worker was hung, and is ended")
        return told

    def send(self, values: Mapping[str, Any]) -> None:
        """Say something; never waits."""
        if self.ended:
            return
        if values.get("ask") in ("pause", "back"):
            self.paused = True
        elif values.get("ask") == "go":
            self.paused, self._heard_s = False, time.monotonic()
        self._wire.send(pack_mapping(values))
        self.sent += 1
        if self._wire.backlog > _MOST_BACKLOG:
            self._end("The live worker does not listen, and is ended")

    def close(self) -> None:
        """End the worker; it hears of it by the end of its socket, and is killed if that is not enough."""
        self._end(self.ended or "The live session is over")

    def _end(self, why: str) -> None:
        if self.ended:
            return
        self.ended = why
        self._wire.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(0.05)
        if self.process.poll() is None:
            self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2.0)


def _start(path: str, theirs: socket.socket, job: Job, log: Any) -> "subprocess.Popen[bytes]":
    """The worker's process, with its end of the pair."""
    folder = os.path.abspath(job.folder)
    words = [str(_ENTRY), "--live"]
    if sys.platform == "win32":
        process = start_python(path, [*words, "stdin", folder], stdin=subprocess.PIPE, stdout=log, stderr=log)
        assert process.stdin is not None
        with process.stdin:
            process.stdin.write(theirs.share(process.pid))
        return process
    end = theirs.fileno()
    return start_python(path, [*words, str(end), folder], stdout=log, stderr=subprocess.STDOUT, pass_fds=(end,))
