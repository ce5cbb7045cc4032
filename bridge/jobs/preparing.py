# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click starts, a little at a time: a motion is read on a timer, and everything that needs no Blender is done on
a thread, so that the interface listens all the while.

A preparation goes to and fro between Blender's own thread, which alone may read the scene, and another one:

    read a piece (timer), … finish the reading (thread), read body and stage in pieces (timer), put the stage together
    and make the folder (thread), start

Nothing here holds a datablock. Opening another file drops what was being prepared for the last one.
"""

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import bpy
from bpy.app.handlers import persistent

from ...core import jobs
from ...core.errors import JobError, SinewError
from ..rig import sampling_copy
from ..rig.rig_reader import RigMotion, RigReading
from ..scene.time_slicing import SLICE_S, Slices, TimeSlicedTask, is_tool_active
from ..setup import preferences
from ..stage import views as stage_views
from . import notices, ownership, reports
from .requests import Request, begin_to_read, create_from, finish_reading, inputs_in_slices, stage_for

_PAUSE_S, _LATER_S = 0.01, 0.2

Start = Callable[[jobs.Job, bpy.types.Scene, str], str]
Then = Callable[["Preparation", RigMotion], Slices[None]]


@dataclass(frozen=True)
class PreparationView:
    """What there is to see of a preparation: what it is for, how far it is in words, and 0 to 1."""

    id: int
    title: str
    text: str
    fraction: float


class Preparation:
    """One of them. then: what is done with the motion once it is read. python: the worker's, if it needs one."""

    _numbers = itertools.count(1)

    def __init__(self, request: Request, scene_name: str, then: Then, *, needs_worker: bool = False) -> None:
        self.id = next(self._numbers)
        self.request, self.scene_name = request, scene_name
        self.reading: RigReading = begin_to_read(request)
        self.text = self.python = ""
        self.cancelled = False
        self._work = TimeSlicedTask(self._steps(then, needs_worker))
        self._made: list[jobs.Job] = []

    def _steps(self, then: Then, needs_worker: bool) -> Slices[None]:
        if needs_worker:
            chosen = preferences.preferred_python()
            self.python = yield lambda: jobs.find_worker_python(chosen)  # before a job is made that could not start
        while not self.reading.advance(SLICE_S):
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
        """Do a piece of it; True when all of it is done, or nobody wants it any more."""
        return self.cancelled or self._work.step()

    def drop(self) -> None:
        """Let it be; nothing of it is left, also not of what a thread is about to make."""
        self.cancelled = True
        self.reading.close()
        self._delete_made()

    def making(self, make: Callable[[], jobs.Job]) -> Slices[jobs.Job]:
        """Make a job on the thread; it is deleted again if it is not wanted any more by then."""

        def make_or_delete() -> None:
            self._made.append(make())
            if self.cancelled:
                self._delete_made()

        yield make_or_delete
        return self._made.pop()

    def _delete_made(self) -> None:
        while self._made:
            ownership.delete(self._made.pop())


_going: list[Preparation] = []


def simulate(request: Request, scene: bpy.types.Scene, start: Start) -> Preparation:
    """Begin to prepare a simulation; ``start`` is given job, scene and Python once it is made, and says what it did."""

    def then(own: Preparation, rig: RigMotion) -> Slices[None]:
        own.text = "Reading the stage"
        inputs = yield from inputs_in_slices(request, rig)
        own.text = "Getting ready"
        doubts = yield lambda: notices.doubts_about(rig.clip)
        job = yield from own.making(lambda: create_from(request, rig, inputs))
        here = bpy.data.scenes.get(own.scene_name) or bpy.context.scene
        said = start(job, here, own.python)
        notices.say(request, doubts)
        _tell([doubt.message for doubt in doubts], said)

    return _begin(Preparation(request, scene.name, then, needs_worker=True))


def check(request: Request, scene: bpy.types.Scene) -> Preparation:
    """Begin to look at a motion; what was found is left for the panel."""

    def then(_: Preparation, rig: RigMotion) -> Slices[None]:
        doubts = yield lambda: notices.doubts_about(rig.clip)
        notices.say(request, doubts)
        looks = f"'{rig.clip.name}' looks right: {len(rig.clip)} frames, {rig.clip.duration_s:.2f} s"
        _tell([doubt.message for doubt in doubts], looks)

    return _begin(Preparation(request, scene.name, then))


def check_stage(request: Request, scene: bpy.types.Scene) -> Preparation:
    """Begin to look at the stage around a motion; says what was found."""

    def then(own: Preparation, rig: RigMotion) -> Slices[None]:
        own.text = "Reading the stage"
        parts, _ = yield from stage_for(request, rig)
        notices.forget_errors(request)
        _tell([f"{finding.message}. {finding.hint}" for finding in parts.findings], stage_views.summarize_stage(parts))

    return _begin(Preparation(request, scene.name, then))


def _tell(warnings: list[str], otherwise: str) -> None:
    for warning in warnings:
        reports.say(warning, "WARNING")
    if not warnings:
        reports.say(otherwise, "INFO")


def _begin(preparation: Preparation) -> Preparation:
    _going.append(preparation)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0, persistent=True)
    reports.redraw()
    return preparation


def views() -> list[PreparationView]:
    """What is being prepared now, the oldest first."""
    return [preparation.view for preparation in _going]


def cancel(number: int) -> None:
    """Let a preparation be; nothing of it is left."""
    for preparation in _going:
        if preparation.id == number:
            preparation.drop()
            return
    raise JobError(f"Nothing that is being read has the number {number}", "It was read by now: cancel its job")


def tick() -> float | None:
    """Go on with the oldest preparation; seconds until the next piece, None for no more."""
    if is_tool_active():
        return _LATER_S
    if _going:
        first = _going[0]
        try:
            done = first.step()
        except SinewError as error:
            done = True
            notices.say(first.request, (notices.error(error),))
            reports.say(str(error), "WARNING")
        except BaseException:
            _going.remove(first)
            raise
        if done:
            _going.remove(first)
        reports.redraw()
    return _PAUSE_S if _going else None


@persistent
def _on_load(_path: str) -> None:
    _drop_all()


def register() -> None:
    """Forget preparations with the file they were for."""
    bpy.app.handlers.load_pre.append(_on_load)
    sampling_copy.register()


def unregister() -> None:
    """Drop everything."""
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    bpy.app.handlers.load_pre.remove(_on_load)
    _drop_all()
    sampling_copy.unregister()


def _drop_all() -> None:
    while _going:
        with suppress(SinewError):  # a folder that cannot be deleted is a job that was never started
            _going.pop().drop()
