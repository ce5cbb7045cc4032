# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock a worker holds while it lives. The system lets it go when the process dies, however it dies."""

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import JobError
from ..files import PUBLIC, open_to_write

# A status query holds a free lock for some microseconds, a launch for some milliseconds; whoever
# wants it for longer tries again for this long before believing that a worker has it.
PATIENCE_S = 2.0

_open: set[int] = set()

_WINDOWS = sys.platform == "win32"
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    def _try(handle: int, shared: bool) -> None:
        # No shared locks here: two queries may get in each other's way, so ``is_locked`` asks twice.
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _release(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        with suppress(OSError):  # it was never ours
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(handle: int, shared: bool) -> None:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)

    def _release(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


def _take(handle: int, shared: bool = False) -> bool:
    """Try once; False where someone else has it. Any other refusal is an ``OSError``."""
    try:
        _try(handle, shared)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True


@contextmanager
def hold_lock(path: Path, patience_s: float = PATIENCE_S, mode: int = PUBLIC) -> Iterator[bool]:
    """Hold the lock inside the ``with`` block; gives False where another process keeps it. mode: of a new file."""
    handle = open_to_write(path, os.O_RDWR | os.O_CREAT, mode)
    _open.add(handle)
    try:
        held = _take_patiently(handle, path, patience_s)
        yield held
    finally:
        if handle in _open:  # and not let go in a forked child
            _open.remove(handle)
            _release(handle)
            os.close(handle)


def close_in_forked_children() -> None:
    """From now on forked children (a pool of rollouts) have no part in our locks.

    Otherwise they would keep the lock of a killed worker, and it would look alive. For the worker only:
    Python cannot take this back.
    """

    def let_go() -> None:
        while _open:
            os.close(_open.pop())

    if sys.platform != "win32":
        os.register_at_fork(after_in_child=let_go)


def _take_patiently(handle: int, path: Path, patience_s: float) -> bool:
    give_up = time.monotonic() + patience_s
    try:
        while not _take(handle):
            if time.monotonic() > give_up:
                return False
            time.sleep(0.01)
    except OSError as error:
        hint = "Keep jobs on a disk of this computer (SINEW_JOBS)"
        raise JobError(f"'{path}' cannot be locked: {error.strerror}", hint) from error
    return True


def is_locked(path: Path) -> bool:
    """Whether a living process holds the lock; never disturbs the one who does."""
    try:
        # A pipe that has the name would be waited for.
        handle = os.open(path, (os.O_RDWR if _WINDOWS else os.O_RDONLY) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        if _take(handle, shared=True) or (_WINDOWS and _take_after_a_moment(handle)):
            _release(handle)
            return False
        return True
    except OSError:
        return False  # a disk without locks: no worker could have taken it either
    finally:
        os.close(handle)


def _take_after_a_moment(handle: int) -> bool:
    time.sleep(0.001)
    return _take(handle)
