# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside Blender: how long Sinew's own code keeps Blender's main thread at most, told apart from Blender's redraws.

Every function of Sinew that Blender calls counts, with all that it calls in turn: operators, panels, timers, handlers.
Needs a Python that can watch single functions (3.12 or later); with an older one nothing is told.
"""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

import inside

_ROOMS = ("bridge", "operators", "panels")
_TOOL, _NAME = 4, "sinew session"

_known: set[str] = set()
_names: dict[CodeType, str] = {}
_calls: list[tuple[CodeType, float, float]] = []
_longest: list[tuple[float, float, str]] = []  # one, or none yet
_ended: deque[tuple[float, float, str]] = deque(maxlen=100_000)
_outer: set[CodeType] = set()  # what Blender itself has called
_narrowed: list[bool] = []


def look() -> None:
    """Watch what has been imported meanwhile. Called by a timer, when no other code of ours can be under way."""
    _calls.clear()  # what ended by an exception is still there
    package = inside.package() if hasattr(sys, "monitoring") else ""
    if not package or _narrowed:
        return
    rooms = tuple("%s.%s" % (package, room) for room in _ROOMS)
    new = [name for name in list(sys.modules) if name.startswith(rooms) and name not in _known]
    for name in new:
        _known.add(name)
        for code in _codes(sys.modules[name]):
            _watch(code, name[len(package) + 1 :])


def longest() -> dict:
    """The longest call since this was asked last, and what it was; empty where nothing is watched.

    seconds: by the clock; worked_s: of the processor, which hardly depends on what else the machine does.
    """
    seconds, worked, what = _longest.pop() if _longest else (0.0, 0.0, "")
    return {"seconds": seconds, "worked_s": worked, "what": what} if _known else {}


def narrow() -> None:
    """From now on watch only what Blender itself has called by now: to watch all else takes time that is measured."""
    _narrowed[:] = [True]
    for code in _names:
        if code not in _outer:
            sys.monitoring.set_local_events(_TOOL, code, 0)


def take_calls() -> list[tuple[float, float, str]]:
    """When each call since this was asked last has ended, by ``time.perf_counter``, what it took, and its name."""
    found = list(_ended)
    _ended.clear()
    return found


def _codes(module: ModuleType) -> Iterator[CodeType]:
    """Of its functions and its classes' methods; a generator is only as long as who asks it."""
    classes = [value for value in vars(module).values() if inspect.isclass(value)]
    values = [value for owner in (module, *classes) for value in vars(owner).values()]
    for value in values:
        function = getattr(value, "__func__", value)
        is_own = isinstance(function, FunctionType) and function.__module__ == module.__name__
        if is_own and not function.__code__.co_flags & inspect.CO_GENERATOR:
            yield function.__code__


def _watch(code: CodeType, module: str) -> None:
    watching = sys.monitoring
    events = watching.events
    if watching.get_tool(_TOOL) is None:
        watching.use_tool_id(_TOOL, _NAME)
        watching.register_callback(_TOOL, events.PY_START, _begin)
        watching.register_callback(_TOOL, events.PY_RETURN, _end)
    _names[code] = "%s.%s" % (module, code.co_qualname)
    watching.set_local_events(_TOOL, code, events.PY_START | events.PY_RETURN)


def _begin(code: CodeType, offset: int) -> None:
    if threading.current_thread() is threading.main_thread():
        _calls.append((code, time.perf_counter(), time.thread_time()))


def _end(code: CodeType, offset: int, value: object) -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    while _calls:
        begun_code, begun, worked = _calls.pop()
        if begun_code is code:
            break
    else:
        return
    if not _calls:
        now = time.perf_counter()
        _outer.add(code)
        _ended.append((now, now - begun, _names[code]))
        spent = (now - begun, time.thread_time() - worked, _names[code])
        _longest[:] = [max(*_longest, spent) if _longest else spent]
