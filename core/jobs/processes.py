# SPDX-License-Identifier: GPL-3.0-or-later
"""Worker processes: starting one that outlives Blender, and telling whether it lives."""

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..child_python import start_python
from ..errors import JobError
from ..files import mode_in, open_to_write
from .event_checks import Event

# Long enough for a Python with a cold disk to come to its first line of ours.
_STARTING_S = 20.0

# Workers started by this process, by job folder. A child that has died stays a zombie, and looks alive,
# until its parent asks for it; every status query asks.
_children: dict[Path, "subprocess.Popen[bytes]"] = {}


def start_worker(python: str, arguments: list[str], folders: Sequence[Path], log: Path) -> "subprocess.Popen[bytes]":
    """Start the worker of the jobs in ``folders``, which outlives this process."""
    with os.fdopen(open_to_write(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode_in(folders[0])), "ab") as stream:
        try:
            process = start_python(python, arguments, outlives_us=True, stdout=stream, stderr=subprocess.STDOUT)
        except OSError as error:
            raise JobError(f"The worker cannot be started ({python}): {error.strerror}", "Try again") from error
    _children.update(dict.fromkeys(folders, process))
    return process


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
    return f" (exit code {code})" if code < 256 else f" (exit code 0x{code:X})"  # as Windows names its crashes


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
