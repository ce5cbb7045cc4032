# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels show of files: each is read once on a thread, and again when it changes; drawing waits for none."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import bpy

from ..scene.viewport import redraw_areas

View = TypeVar("View")
Stamp = tuple[Path, int, int]  # path, time of its last change in ns, size; 0 and 0 for what is not there

PERIOD_S = 0.05
_MOST_KEPT = 16


def reads_aside() -> bool:
    """Whether somebody looks on who must not be kept waiting, and a timer runs that sees when a file was read."""
    return not bpy.app.background


class FileViews(Generic[View]):
    """Views of files of one kind.

    read: makes a view of a file; called on any thread, so it touches nothing of Blender's. meanwhile: what is shown
    of a file until then.
    """

    def __init__(self, read: Callable[[Path], View], meanwhile: View) -> None:
        self._read, self._meanwhile = read, meanwhile
        self._kept: OrderedDict[Stamp, tuple[View | None, BaseException | None]] = OrderedDict()
        self._threads: dict[Path, threading.Thread] = {}

    def view(self, path: Path, *, wait: bool = False) -> View:
        """What there is to see of a file by now. wait: read it here if it was not read yet."""
        stamp = _stamp(path)
        if stamp not in self._kept:
            if not wait and reads_aside():
                self._begin(path, stamp)
                return self._meanwhile
            self._keep(stamp)
        self._kept.move_to_end(stamp)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        found, error = self._kept[stamp]
        if error is not None:
            raise error
        assert found is not None
        return found

    def _begin(self, path: Path, stamp: Stamp) -> None:
        """Let a thread read the file, unless one is at it."""
        if path in self._threads:
            return
        thread = threading.Thread(target=self._keep, args=(stamp,), daemon=True, name="sinew learned file")
        self._threads[path] = thread
        thread.start()
        bpy.app.timers.register(self._poll_threads, first_interval=PERIOD_S, persistent=True)

    def _keep(self, stamp: Stamp) -> None:
        found: View | None = None
        raised: BaseException | None = None
        try:
            found = self._read(stamp[0])
        except BaseException as error:  # noqa: BLE001 - a bug is raised again where it is looked at
            raised = error
        self._kept[stamp] = found, raised

    def _poll_threads(self) -> float | None:
        """Draw anew once a file was read; seconds until the next look, None for no more."""
        done = [path for path, thread in self._threads.items() if not thread.is_alive()]
        for path in done:
            del self._threads[path]
        if done:
            redraw_areas(("VIEW_3D",))
        return PERIOD_S if self._threads else None


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return path, 0, 0
    return path, found.st_mtime_ns, found.st_size
