# SPDX-License-Identifier: GPL-3.0-or-later
"""Worker processes: starting one that outlives Blender, and telling whether it lives."""

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

from ..errors import JobError
from ..files import cannot_write
from .events import Event

# Long enough for a Python with a cold disk to come to its first line of ours.
_STARTING_S = 20.0

# What would lead another Python to this one's modules.
_NOT_FOR_OTHERS = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")

# Workers started by this process, by job folder. A child that has died stays a zombie, and looks alive,
# until its parent asks for it; every status query asks.
_children: dict[Path, "subprocess.Popen[bytes]"] = {}


def worker_environment() -> dict[str, str]:
    """The worker's environment: this one's, without what fits only this Python."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_OTHERS}
    # Matrices here are small: more threads than one would spin on the cores that physics needs.
    kept = {"OPENBLAS_NUM_THREADS": "1"} | kept
    # The extension's folder may be read-only, and its log is UTF-8 on every system.
    return kept | {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


def start_worker(command: list[str], folder: Path, log: Path) -> "subprocess.Popen[bytes]":
    """Start the worker in a session of its own, so that neither Blender's end nor a Ctrl-C there ends it."""
    try:
        stream = log.open("ab")
    except OSError as error:
        raise cannot_write(log, error) from error
    with stream:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=worker_environment(),
                start_new_session=True,
                creationflags=windows_flags(),
            )
        except OSError as error:
            raise JobError(f"The worker cannot be started ({command[0]}): {error.strerror}", "Try again") from error
    _children[folder] = process
    return process


def windows_flags() -> int:
    """How a child starts on Windows: no console window, and no Ctrl-C from ours."""
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0


def reap_worker(folder: Path) -> None:
    """Let go of this process's own worker in the folder, if it has ended."""
    if folder in _children:
        _children[folder].poll()


def describe_exit(folder: Path, launched: Event | None) -> str:
    """A few words on a worker that ended without any of its own; empty if it was not our child."""
    child = _children.get(folder)
    if child is None or launched is None or child.pid != launched["pid"] or child.returncode is None:
        return ""
    code = child.returncode
    if code < 0:
        try:
            return f" (killed by {signal.Signals(-code).name})"
        except ValueError:
            pass
    return f" (exit code {code})"


def is_starting(folder: Path, launched: Event | None) -> bool:
    """Whether a worker that was launched may still come to hold its lock."""
    if launched is None:
        return False
    child = _children.get(folder)
    if child is not None and child.pid == launched["pid"]:
        return child.poll() is None
    if abs(time.time() - launched["time"]) > _STARTING_S:
        return False
    return launched["host"] != platform.node() or _lives(launched["pid"])


def _lives(pid: int) -> bool:
    """Whether the process exists and is more than a zombie; on Windows the launch's age alone decides."""
    if sys.platform == "win32":
        return True
    try:
        # The state follows the command's name, which stands in brackets and may hold any character.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
