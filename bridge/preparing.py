# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click starts, a little at a time: a motion is read on a timer, and everything that needs no Blender is done on
a thread, so that the interface listens all the while.

A preparation goes to and fro between Blender's own thread, which alone may read the scene, and another one:

    read a piece (timer), … finish the reading (thread), read body and stage (timer), make the folder (thread), start

Nothing here holds a datablock. Opening another file drops what was being prepared for the last one.
"""

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..core import jobs
from ..core.errors import JobError, SinewError
from . import homes, notices, preferences, telling
from .requests import Request, begin_to_read, create_from, finish_reading, inputs_of
from .rig_reader import RigMotion, RigReading

_PIECE_S = 0.04  # so long Blender does not listen to its user at a time
_PAUSE_S, _LATER_S = 0.01, 0.2

Start = Callable[[jobs.Job, bpy.types.Scene, str], str]


@dataclass(frozen=True)
class PreparationView:
    """What there is to see of a preparation: what it is for, how far it is in words, and 0 to 1."""

    id: int
    title: str
    text: str
    fraction: float


class Preparation:
    """One of them. ``todo`` yields what is to be done on a thread, and is sent what came of it."""

    _numbers = itertools.count(1)

    def __init__(self, request: Request, scene_name: str, then: Callable[["Preparation", RigMotion], Iterator[Any]]):
        self.id = next(self._numbers)
        self.request, self.scene_name = request, scene_name
        self.reading: RigReading = begin_to_read(request)
        self.text = self.python = ""
        self.cancelled = False
        self._todo = self._steps(then)
        self._thread: threading.Thread | None = None
        self._made: list[tuple[Any, BaseException | None]] = []

    def _steps(self, then: Callable[["Preparation", RigMotion], Iterator[Any]]) -> Iterator[Any]:
        chosen = preferences.worker_python()
        self.python = yield lambda: jobs.worker_python(chosen)  # before a job is made that could not start
        while not self.reading.advance(_PIECE_S):
            yield None
        rig = yield lambda: finish_reading(self.request, self.reading)
        yield from then(self, rig)

    @property
    def view(self) -> PreparationView:
        """As the panel shows it."""
        done, total = self.reading.frames
        text = self.text or (f"Reading frame {done} of {total}" if done < total else "Getting ready")
        return PreparationView(self.id, self.reading.title, text, done / total)

    def step(self) -> bool:
        """Do a piece of it here, or look whether the thread is done with its own; True when all of it is done."""
        made = None
        if self._thread is not None:
            if self._thread.is_alive():
                return False
            self._thread = None
            made, error = self._made.pop()
            if error is not None:
                raise error
        if self.cancelled:
            if isinstance(made, jobs.Job):
                homes.delete(made)
            return True
        try:
            todo = self._todo.send(made)  # type: ignore[attr-defined]
        except StopIteration:
            return True
        if todo is not None:
            self._thread = threading.Thread(target=self._do, args=(todo,), daemon=True, name="sinew preparation")
            self._thread.start()
        return False

    def _do(self, todo: Callable[[], Any]) -> None:
        try:
            self._made.append((todo(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where it can be told
            self._made.append((None, error))


_going: list[Preparation] = []


def simulate(request: Request, scene: bpy.types.Scene, start: Start) -> Preparation:
    """Begin to prepare a simulation; ``start`` is given job, scene and Python once it is made, and says what it did."""

    def then(own: Preparation, rig: RigMotion) -> Iterator[Any]:
        own.text = "Reading the stage"
        inputs = inputs_of(request, rig, later=True)
        own.text = "Getting ready"
        doubts = notices.doubts_about(rig.clip)
        job = yield lambda: create_from(request, rig, inputs)
        here = bpy.data.scenes.get(own.scene_name) or bpy.context.scene
        said = start(job, here, own.python)
        notices.say(request, doubts)
        for doubt in doubts:
            telling.say(doubt.message, "WARNING")
        if not doubts:
            telling.say(said, "INFO")

    return _begin(Preparation(request, scene.name, then))


def check(request: Request, scene: bpy.types.Scene) -> Preparation:
    """Begin to look at a motion; what was found is left for the panel."""

    def then(own: Preparation, rig: RigMotion) -> Iterator[Any]:
        doubts = yield lambda: notices.doubts_about(rig.clip)
        notices.say(request, doubts)
        looks = f"'{rig.clip.name}' looks right: {len(rig.clip)} frames, {rig.clip.duration_s:.2f} s"
        for doubt in doubts:
            telling.say(doubt.message, "WARNING")
        if not doubts:
            telling.say(looks, "INFO")

    return _begin(Preparation(request, scene.name, then))


def _begin(preparation: Preparation) -> Preparation:
    _going.append(preparation)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0, persistent=True)
    telling.redraw()
    return preparation


def views() -> list[PreparationView]:
    """What is being prepared now, the oldest first."""
    return [preparation.view for preparation in _going]


def cancel(number: int) -> None:
    """Let a preparation be; nothing of it is left."""
    for preparation in _going:
        if preparation.id == number:
            preparation.cancelled = True
            return
    raise JobError(f"Nothing that is being read has the number {number}", "It was read by now: cancel its job")


def tick() -> float | None:
    """Go on with the oldest preparation; seconds until the next piece, None for no more."""
    if _is_dragging():
        return _LATER_S
    if _going:
        first = _going[0]
        try:
            done = first.step()
        except SinewError as error:
            done = True
            notices.say(first.request, (notices.error(error),))
            telling.say(str(error), "WARNING")
        except BaseException:
            _going.remove(first)
            raise
        if done:
            _going.remove(first)
        telling.redraw()
    return _PAUSE_S if _going else None


def _is_dragging() -> bool:
    """Whether a tool is in the middle of something that reading could disturb; what only passes by does not count."""
    windows = bpy.context.window_manager.windows
    return any("UNDO" in tool.bl_options for window in windows for tool in window.modal_operators)


@persistent
def _on_load(_path: str) -> None:
    _going.clear()


def register() -> None:
    """Forget preparations with the file they were for."""
    bpy.app.handlers.load_pre.append(_on_load)


def unregister() -> None:
    """Drop everything."""
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    bpy.app.handlers.load_pre.remove(_on_load)
    _going.clear()
