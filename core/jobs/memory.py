# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a worker ran out of memory: as an exception that it met, or by the system, which ends it without a word.

Linux counts how often it ended a process for memory's sake. A worker notes the count when it starts, and who finds it
lost compares. What a library prints before it gives up stands in ``worker.log``.
"""

import errno
import platform
import re
from pathlib import Path
from typing import Any

from ..errors import BadFile
from ..files import open_to_read
from .event_checks import Event

OUT_OF_MEMORY = "The worker ran out of memory"
OUT_OF_MEMORY_HINT = "Simulate fewer frames or less at once, or close other programs, and resume"

_COUNTS, _BOOT = Path("/proc/vmstat"), Path("/proc/sys/kernel/random/boot_id")
_TAIL_BYTES = 8192
_RUN = " on Python "  # in the line that every run begins with
# What allocators of C++, PyTorch and MuJoCo print, and Python itself.
_WORDS = re.compile(r"bad_alloc|MemoryError|(cannot|can't|could not) allocate|out of memory", re.I)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory is at its end, in whichever way its library says so."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return not isinstance(error, SystemExit) and _WORDS.search(str(error)) is not None


def count_memory_ends() -> dict[str, Any]:
    """What a worker notes when it starts: how often the system has ended a process for memory so far, since when."""
    try:
        lines = _COUNTS.read_text(encoding="ascii").splitlines()
        count = next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)
        return {} if count is None else {"memory_ends": count, "boot": _BOOT.read_text(encoding="ascii").strip()}
    except (OSError, ValueError):
        return {}  # no Linux


def memory_ended(started: Event | None, log: Path) -> bool:
    """Whether a lost worker seems to have run out of memory. started: its first event."""
    if started is None:
        return False
    noted, now = started.get("memory_ends"), count_memory_ends()
    here = started.get("host") == platform.node() and started.get("boot") == now.get("boot")
    if here and isinstance(noted, int) and now["memory_ends"] > noted:
        return True
    return _WORDS.search(_tail(log)) is not None


def _tail(log: Path) -> str:
    """What the newest run printed last."""
    try:
        with open_to_read(log) as stream:
            stream.seek(max(0, stream.seek(0, 2) - _TAIL_BYTES))
            text = stream.read(_TAIL_BYTES).decode("utf-8", "replace")
            return text.rpartition(_RUN)[2]  # nothing of the runs before
    except (OSError, BadFile):
        return ""
