# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that step worlds, and the memory shared with them.

A helper is a Python of its own that loads this package afresh; commands and answers are lines of JSON on its standard
input and output, arrays lie in shared memory. It ends when its input does, so none outlives a parent that was killed.
"""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from .... import errors
from ....child_python import call_arguments, start_python
from ....cores import allowed_cores
from ....errors import SinewError
from ....geometry.quaternions import Array

# Each helper has a core to itself; libraries that start threads would only be in the way.
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
_numbers = itertools.count()


def usable_cores() -> int:
    """How many processors this process may use."""
    if allowed := allowed_cores():
        return allowed
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class Pool:
    """As many helpers as asked for, for one world and those changed from it; closed when the last of them is."""

    def __init__(self, count: int) -> None:
        self._helpers = [_start() for _ in range(count)]
        self._rooms: list[SharedMemory] = []  # one, or none yet
        self._users = 0
        # Called when the last world leaves, when this is collected, or when Python ends.
        self._close = weakref.finalize(self, _end, self._helpers, self._rooms)

    def __len__(self) -> int:
        return len(self._helpers)

    def join(self) -> int:
        """A number for one more world, which must ``leave``."""
        self._users += 1
        return next(_numbers)

    def leave(self, world: int) -> None:
        """One world less; the last one takes the helpers with it."""
        self._users -= 1
        if self._users > 0:
            # A helper that has died has forgotten it as well.
            with contextlib.suppress(RuntimeError):
                self.ask([{"do": "drop", "world": world}] * len(self))
            return
        self._close()

    def build(self, world: int, stage: bytes, dt_s: float) -> None:
        """Let every helper build a stage."""
        self.ask([{"do": "build", "world": world, "dt_s": dt_s, "bytes": len(stage)}] * len(self), stage)

    def share(self, arrays: Mapping[str, tuple[int, ...]]) -> tuple[dict[str, Any], dict[str, Array]]:
        """Room for arrays of the given shapes: where helpers find them, and the arrays, valid until next time."""
        ends = np.cumsum([8 * int(np.prod(shape)) for shape in arrays.values()])
        starts = {name: int(start) for name, start in zip(arrays, [0, *ends], strict=False)}
        if not self._rooms or self._rooms[0].size < ends[-1]:
            _release(self._rooms)
            self._rooms.append(SharedMemory(create=True, size=max(int(ends[-1]), 1)))
        room = self._rooms[0]
        views: dict[str, Array] = {
            name: np.ndarray(shape, dtype=np.float64, buffer=room.buf, offset=starts[name])
            for name, shape in arrays.items()
        }
        located = {name: [starts[name], list(shape)] for name, shape in arrays.items()}
        return {"memory": room.name, "arrays": located}, views

    def ask(self, commands: Sequence[Mapping[str, Any]], data: bytes = b"") -> None:
        """Give each helper its command, with data if there is any, and wait until all are done."""
        ticket = next(_numbers)
        for helper, command in zip(self._helpers, commands, strict=True):
            _send(helper, {**command, "ticket": ticket}, data)
        try:
            # All are waited for before an error is raised, so that none is still at work on the shared memory.
            answers = [_answer(helper, ticket) for helper in self._helpers]
        except BaseException:
            # They are: leave it to them.
            _release(self._rooms)
            raise
        for answer in answers:
            if "error" in answer:
                kind = getattr(errors, answer["error"], None)
                if isinstance(kind, type) and issubclass(kind, SinewError):
                    raise kind(answer["message"], answer["hint"])
                raise RuntimeError(f"a helper of Bullet failed:\n{answer['message']}")


def _start() -> "subprocess.Popen[bytes]":
    words = call_arguments("core.sim.engines.bullet.helper", "main")
    return start_python(sys.executable, words, variables=_ONE_THREAD, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _send(helper: "subprocess.Popen[bytes]", command: Mapping[str, Any], data: bytes) -> None:
    assert helper.stdin is not None
    # If it has died, that is its answer.
    with contextlib.suppress(OSError):
        helper.stdin.write(json.dumps(command).encode() + b"\n" + data)
        helper.stdin.flush()


def _answer(helper: "subprocess.Popen[bytes]", ticket: int) -> dict[str, Any]:
    """The answer to the command of that ticket; older ones were left unheard when something interrupted the wait."""
    assert helper.stdout is not None
    for line in helper.stdout:
        answer: dict[str, Any] = json.loads(line)
        if answer["ticket"] == ticket:
            return answer
    return {"error": "", "message": f"it ended with exit code {helper.wait()}"}


def _end(helpers: Sequence["subprocess.Popen[bytes]"], rooms: list[SharedMemory]) -> None:
    """Close the helpers' input, which ends them, wait for them, and give the memory back."""
    for helper in helpers:
        assert helper.stdin is not None and helper.stdout is not None
        with contextlib.suppress(OSError):
            helper.stdin.close()
    for helper in helpers:
        try:
            helper.wait(2.0)
        except subprocess.TimeoutExpired:
            helper.kill()
            helper.wait()
        assert helper.stdout is not None
        helper.stdout.close()
    _release(rooms)


def _release(rooms: list[SharedMemory]) -> None:
    while rooms:
        room = rooms.pop()
        # A view that is still held keeps it open; the name goes all the same.
        with contextlib.suppress(BufferError):
            room.close()
        room.unlink()
