# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs in a helper process: reads commands, steps worlds, answers. See ``pool``."""

import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import Any, BinaryIO

import numpy as np

from ....errors import SinewError
from ....geometry.quaternions import Array
from .wire import unpack

# Worlds are steppers; their module is imported late, because importing Bullet prints.
_worlds: dict[int, Any] = {}
_memory: SharedMemory | None = None


def main() -> None:
    """Answer commands until standard input ends."""
    # A Ctrl-C is for the parent, which ends this process by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    commands: queue.Queue[tuple[dict[str, Any], bytes]] = queue.Queue()
    # Read by a thread of its own, so that the end of the parent is noticed in the middle of work too.
    threading.Thread(target=_read, args=(sys.stdin.buffer, commands), daemon=True).start()
    with _quiet():
        from . import stepping  # noqa: F401  # Bullet says hello on standard error
    # Bullet's own words must not be taken for answers.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        command, data = commands.get()
        answer = {"ticket": command["ticket"], **_answer(command, data)}
        answers.write(json.dumps(answer).encode() + b"\n")


def _read(stream: BinaryIO, commands: "queue.Queue[tuple[dict[str, Any], bytes]]") -> None:
    while line := stream.readline():
        command = json.loads(line)
        commands.put((command, stream.read(command.get("bytes", 0))))
    os._exit(0)


def _answer(command: dict[str, Any], data: bytes) -> dict[str, Any]:
    try:
        _DO[command["do"]](command, data)
    except SinewError as error:
        return {"error": type(error).__name__, "message": error.message, "hint": error.hint}
    except Exception:  # noqa: BLE001  # whatever it is, the parent has to know
        return {"error": "", "message": traceback.format_exc()}
    return {}


def _build(command: dict[str, Any], data: bytes) -> None:
    from .stepping import Stepper

    with _quiet():
        _worlds[command["world"]] = Stepper(unpack(data), command["dt_s"])


def _drop(command: dict[str, Any], _: bytes) -> None:
    world = _worlds.pop(command["world"], None)
    if world is not None:
        world.close()


def _rollout(command: dict[str, Any], _: bytes) -> None:
    arrays, some = _arrays(command), slice(*command["copies"])
    forces, muscle = (arrays[name][some] if name in arrays else None for name in ("forces", "muscle"))
    _worlds[command["world"]].rollout(
        arrays["states"][some], arrays["targets"][some], arrays["out"][some], command["substeps"], forces, muscle
    )


def _rays(command: dict[str, Any], _: bytes) -> None:
    arrays, some = _arrays(command), slice(*command["copies"])
    states, origins, ends, out = (arrays[name][some] for name in ("states", "origins", "ends", "out"))
    _worlds[command["world"]].cast_rays(states, origins, ends, command["character"], out)


def _bare(command: dict[str, Any], _: bytes) -> None:
    _worlds[command["world"]].bare(_arrays(command)["states"][slice(*command["copies"])], command["steps"])


_DO = {"build": _build, "drop": _drop, "rollout": _rollout, "rays": _rays, "bare": _bare}


def _arrays(command: dict[str, Any]) -> dict[str, Array]:
    """The arrays of a command, in memory that is shared with the parent."""
    global _memory  # noqa: PLW0603  # one piece at a time
    if _memory is None or _memory.name != command["memory"]:
        if _memory is not None:
            with suppress(BufferError):
                _memory.close()
        _memory = _attached(command["memory"])
    return {
        name: np.ndarray(tuple(shape), dtype=np.float64, buffer=_memory.buf, offset=start)
        for name, (start, shape) in command["arrays"].items()
    }


def _attached(name: str) -> SharedMemory:
    """The parent's memory, which is the parent's alone to remove."""
    if sys.version_info >= (3, 13):
        return SharedMemory(name, track=False)
    # Or this process would start one more that removes the memory, and complains that nobody else did.
    register = resource_tracker.register
    resource_tracker.register = lambda *_: None
    try:
        return SharedMemory(name)
    finally:
        resource_tracker.register = register


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Bullet prints from standard error."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
