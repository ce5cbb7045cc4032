# SPDX-License-Identifier: GPL-3.0-or-later
"""What a click starts, in slices of time: the scene is read on a timer, and everything that needs no Blender is done on
a thread, so that the interface listens all the while.

Each verb has one recipe, a generator (``recipes.py``, ``bridge/methods``). A click has its steps taken by a timer, a
script and the background at once. It goes to and fro between Blender's own thread, which alone may read the scene, and
another one:

    read a piece (timer), … finish the reading (thread), read body and stage in pieces (timer), put the stage together
    and make the folder (thread), start

No recipe holds a datablock over a pause. Opening another file drops what was being prepared for the last one.
"""

import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core import jobs
from ...core.errors import JobError, SinewError, not_enough_memory
from ..rig import sampling_copy
from ..rig.rig_reader import RigMotion, RigReading
from ..scene.time_slicing import SLICE_S, ResultT, Slices, TimeSlicedTask, is_tool_active, run_all_slices
from ..setup import preferences
from . import ownership, reports
from .requests import Request, begin_to_read, finish_reading

_PAUSE_S, _LATER_S = 0.01, 0.2


@dataclass(frozen=True)
class Outcome:
    """What a recipe says at its end: what it did, or what there is to warn of.

    undo_step: what the undo step is called that a click's recipe needs for what it changed in the file, for the
    operator's own step was made when it began; '' where a job does the rest.
    """

    said: str
    warnings: tuple[str, ...] = ()
    undo_step: str = ""


@dataclass(frozen=True)
class PreparationView:
    """What there is to see of a preparation: what it is for, how far it is in words, and 0 to 1."""

    id: int
    title: str
    text: str
    fraction: float


class Preparation:
    """A recipe that is being followed. slice_s: how long a piece may keep Blender busy; infinite where nobody waits.

    title: what is being read. text: what is done now, '' while a motion is read. fail: is told what went wrong.
    undo_step: as in its outcome, until that is made.
    """

    _numbers = itertools.count(1)

    def __init__(
        self,
        steps_of: "Callable[[Preparation], Slices[Any]]",
        scene: bpy.types.Scene,
        fail: Callable[[SinewError], None] = lambda _: None,
        *,
        slice_s: float | None = None,
    ) -> None:
        self.id = next(self._numbers)
        self.scene_name, self.fail = scene.name, fail
        self.slice_s = SLICE_S if slice_s is None else slice_s
        self.title = self.text = self.undo_step = ""
        self.reading: RigReading | None = None
        self.cancelled = self.is_done = False
        self._steps = steps_of(self)
        self._work = TimeSlicedTask(self._steps)
        self._made: list[jobs.Job] = []

    @property
    def scene(self) -> bpy.types.Scene:
        """The scene that it is for, found anew; the shown one where it is gone."""
        return bpy.data.scenes.get(self.scene_name) or bpy.context.scene

    @property
    def view(self) -> PreparationView:
        """As the panel shows it."""
        done, total = self.reading.frames if self.reading is not None else (0, 1)
        reading = self.reading is not None and done < total
        text = self.text or (f"Reading frame {done} of {total}" if reading else "Getting ready")
        return PreparationView(self.id, self.title, text, done / total)

    @property
    def outcome(self) -> Outcome:
        """What the recipe said, once all of it is done."""
        outcome: Outcome = self._work.result
        return outcome

    def step(self) -> bool:
        """Do a piece of it; True when all of it is done."""
        return self._work.step()

    def drop(self) -> None:
        """Let it be; nothing of it is left, also not of what a thread is about to make."""
        self.cancelled = True
        if self.reading is not None:
            self.reading.close()
        self._delete_made()

    def find_worker(self) -> Slices[str]:
        """The worker's Python, before a job is made that could not start."""
        chosen = preferences.preferred_python()
        python: str = yield lambda: jobs.find_worker_python(chosen)
        return python

    def read(self, request: Request) -> Slices[RigMotion]:
        """Read what the request is about; refuses at once what could not be simulated or written later."""
        self.reading = reading = begin_to_read(request)
        self.title = self.title or reading.title
        yield None
        while not reading.advance(self.slice_s):
            yield None
        rig: RigMotion = yield lambda: finish_reading(request, reading)
        return rig

    def make(self, make: Callable[[], jobs.Job]) -> Slices[jobs.Job]:
        """Make a job on the thread; it is deleted again if it is not wanted any more by then."""
        (job,) = yield from self.make_all([make])
        return job

    def make_all(self, makes: Sequence[Callable[[], jobs.Job]]) -> Slices[list[jobs.Job]]:
        """Make several jobs, or none: what was made is deleted if one cannot be, or if they are not wanted any more."""
        for make in makes:
            yield partial(self._make_or_delete, make)
        made = list(self._made)
        self._made.clear()
        return made

    def _make_or_delete(self, make: Callable[[], jobs.Job]) -> None:
        try:
            self._made.append(make())
        except BaseException:
            self._delete_made()
            raise
        if self.cancelled:
            self._delete_made()

    def _delete_made(self) -> None:
        while self._made:
            ownership.delete(self._made.pop())


Recipe = Callable[[Preparation], Generator[Callable[[], Any] | None, Any, Outcome]]
"""The steps of a verb: what it yields is as in ``time_slicing``."""

_going: list[Preparation] = []


def begin_preparation(recipe: Recipe, scene: bpy.types.Scene, fail: Callable[[SinewError], None]) -> Preparation:
    """Begin what a click asked for, and leave the rest to timers; what is wrong from the start is raised here."""
    preparation = Preparation(recipe, scene, fail)
    if not preparation.step():
        _going.append(preparation)
        if not bpy.app.timers.is_registered(tick_preparations):
            bpy.app.timers.register(tick_preparations, first_interval=0.0, persistent=True)
    else:
        preparation.is_done = True
        _tell(preparation.outcome)
    reports.redraw()
    return preparation


def do_at_once(steps_of: Callable[[Preparation], Slices[ResultT]], scene: bpy.types.Scene | None = None) -> ResultT:
    """Take all steps of a recipe, or of a part of one, here and now: for scripts and in the background."""
    preparation = Preparation(steps_of, scene or bpy.context.scene, slice_s=float("inf"))
    try:
        return run_all_slices(preparation._steps)
    except BaseException:
        preparation.drop()
        raise


def _tell(outcome: Outcome) -> None:
    for warning in outcome.warnings:
        reports.report_to_user(warning, "WARNING")
    if not outcome.warnings:
        reports.report_to_user(outcome.said, "INFO")


def preparation_views() -> list[PreparationView]:
    """What is being prepared now, the oldest first."""
    return [preparation.view for preparation in _going]


def cancel_preparation(number: int) -> None:
    """Let a preparation be; nothing of it is left."""
    for preparation in _going:
        if preparation.id == number:
            preparation.drop()
            return
    raise JobError(f"Nothing that is being read has the number {number}", "It was read by now: cancel its job")


def is_undo_step_next() -> bool:
    """Whether the next piece is nothing but an undo step of Blender's, which takes as long as the file is large."""
    return bool(_going) and _going[0].is_done and bool(_going[0].undo_step)


def _advance(first: Preparation) -> None:
    """Do a piece of it. What came of it is told a piece later: to report makes Blender look at what has changed."""
    if is_undo_step_next():
        bpy.ops.ed.undo_push(message=first.undo_step)
        first.undo_step = ""
        return
    if first.cancelled or first.is_done:
        _going.remove(first)
        if not first.cancelled:
            _tell(first.outcome)
        return
    try:
        if first.step():
            first.is_done, first.undo_step = True, first.outcome.undo_step
    except (SinewError, MemoryError) as error:
        problem = error if isinstance(error, SinewError) else not_enough_memory(f"'{first.title}'")
        _going.remove(first)
        first.drop()
        first.fail(problem)
        reports.report_to_user(str(problem), "WARNING")
    except BaseException:
        _going.remove(first)
        first.drop()
        raise


def tick_preparations() -> float | None:
    """Go on with the oldest preparation; seconds until the next piece, None for no more."""
    if is_tool_active():
        return _LATER_S
    if _going:
        _advance(_going[0])
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
    if bpy.app.timers.is_registered(tick_preparations):
        bpy.app.timers.unregister(tick_preparations)
    bpy.app.handlers.load_pre.remove(_on_load)
    _drop_all()
    sampling_copy.unregister()


def _drop_all() -> None:
    while _going:
        with suppress(SinewError):  # a folder that cannot be deleted is a job that was never started
            _going.pop().drop()
