# SPDX-License-Identifier: GPL-3.0-or-later
"""Clicks without a window: what an operator does when its button is pressed, timed piece by piece."""

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import bpy

from ...bridge.body import mesh_surface
from ...bridge.jobs import baking, monitor, preparing, requests
from ...core import jobs
from ...core.errors import SinewError

Spent = tuple[float, float]
"""Milliseconds by the clock, and those that Blender's main thread worked."""

UNTIL_BEGUN = ", until it has begun"
BLENDERS_LOOK = ", Blender's own look at what changed"
BLENDERS_UNDO_STEP = ", Blender's own undo step"
BLENDERS_LOOK_AT_BAKED = "bake, Blender's own look at the new Action"
UNTIL_BAKED = "bake, until it is ready"
_PATIENCE_S = 600.0


class StepClock:
    """Milliseconds by the name of a step: how long it took, and how long this thread worked."""

    def __init__(self) -> None:
        self.spent: dict[str, Spent] = {}

    @contextmanager
    def __call__(self, step: str, *, worst: bool = False, best: bool = False) -> Iterator[None]:
        """Time what is inside; of steps that are taken again and again the worst or the best one counts."""
        begin = time.perf_counter(), time.thread_time()
        yield
        spent = round(1e3 * (time.perf_counter() - begin[0]), 2), round(1e3 * (time.thread_time() - begin[1]), 2)
        known = self.spent.get(step, spent)
        self.spent[step] = (
            choose_each(max, known, spent) if worst else choose_each(min, known, spent) if best else spent
        )


def choose_each(choose: Callable[[float, float], float], one: Spent, other: Spent) -> Spent:
    """The chosen of both clocks, each by itself."""
    return choose(one[0], other[0]), choose(one[1], other[1])


class Clicked:
    """An operator without a window: what its class has, its properties' values or defaults, and what went wrong."""

    def __init__(self, kind: Any, **values: Any) -> None:
        self._kind = kind
        self.problems: list[str] = []
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        properties = getattr(bpy.ops.sinew, self._kind.bl_idname.partition(".")[2]).get_rna_type().properties
        if name in properties and not hasattr(self._kind, name):
            return properties[name].default
        value = getattr(self._kind, name)
        return value.__get__(self) if inspect.isfunction(value) else value

    def report(self, kinds: set[str], text: str) -> None:
        """Keep what is an error."""
        if "ERROR" in kinds:
            self.problems.append(text)

    def say(self, armature: str, problem: SinewError | None) -> None:
        """Keep what would be shown with the armature."""
        if problem is not None:
            self.problems.append(str(problem))

    def failing(self, scene: bpy.types.Scene) -> Callable[[SinewError], None]:
        """Keep what would be shown with the motion."""
        return lambda problem: self.problems.append(str(problem))


def kind_of(verb: str) -> Any:
    """The operator's class."""
    return bpy.types.Operator.bl_rna_get_subclass_py(f"SINEW_OT_{verb}")


def click(clock: StepClock, verb: str, **values: Any) -> None:
    """Press a button: what it does at once, and then the pieces in which its work is done. It must go well."""
    kind = kind_of(verb)
    if hasattr(kind, "poll") and not kind.poll(bpy.context):
        why = kind.why_not(bpy.context) if hasattr(kind, "why_not") else "its poll says no"
        raise SinewError(f"'{verb}' is not offered here: {why}", "Give the benchmark a scene in which it is")
    if hasattr(kind, "prepare"):
        _prepare(clock, verb, kind, values)
        return
    pressed = Clicked(kind, **values)
    with clock(verb):  # not by ``bpy.ops``, after which Blender looks at all that has changed
        done = kind.execute(pressed, bpy.context)
    with clock(verb + BLENDERS_LOOK):
        bpy.context.view_layer.update()
    if pressed.problems or done != {"FINISHED"}:
        why = pressed.problems[0] if pressed.problems else str(done)
        raise SinewError(f"'{verb}' failed: {why}", "Give the benchmark a scene in which it does not")


def _prepare(clock: StepClock, verb: str, kind: Any, values: dict[str, Any]) -> None:
    mesh_surface._known.clear()  # as if it were seen for the first time
    pressed = Clicked(kind, **values)
    with clock(verb):  # without a window Blender runs no ``invoke``, which is what a click does
        kind.prepare(pressed, bpy.context)
    take_pieces(clock, verb)
    if pressed.problems:
        raise SinewError(f"'{verb}' failed: {pressed.problems[0]}", "Give the benchmark a scene in which it does not")


def fail(problem: SinewError) -> None:
    """What went wrong in a piece ends the benchmark."""
    raise problem


def take_pieces(clock: StepClock, verb: str) -> None:
    """Have all that is being prepared done, as the timer does it."""
    begun, pieces = time.perf_counter(), 0
    while preparing.preparation_views():
        kind = BLENDERS_UNDO_STEP if preparing.is_undo_step_next() else ", longest piece"
        with clock(verb + kind, worst=True):
            preparing.tick_preparations()
        with clock(verb + BLENDERS_LOOK, worst=True):  # as a window does before the next piece
            bpy.context.view_layer.update()
        pieces += 1
        time.sleep(0.005)
    clock.spent[verb + UNTIL_BEGUN] = (round(1e3 * (time.perf_counter() - begun), 2), float(pieces))


def wait_for(reached: Callable[[], bool], tick: Callable[[], Any]) -> None:
    """Tick until something is reached, or patience ends."""
    end = time.monotonic() + _PATIENCE_S
    while not reached():
        if time.monotonic() > end:
            raise SinewError("The benchmark waited in vain", "Look at the newest job's worker.log")
        tick()
        time.sleep(0.02)


def watch_newest(clock: StepClock, reached: Callable[[Any], bool]) -> None:
    """The monitor looks until the newest job has come so far, or has ended."""

    def tick() -> None:
        with clock("tick", worst=True):
            monitor.tick_monitor()

    wait_for(lambda: reached(monitor.watched_jobs()[0]) or not monitor.watched_jobs()[0].alive, tick)


def collect_newest() -> None:
    """Wait for the newest job and bring its result home at once."""
    job = monitor.job_of(monitor.watched_jobs()[0].id)
    state = jobs.wait(job).state
    if state != "done":
        raise SinewError(f"The job '{job.spec.method}' ended as {state}", "Look at its worker.log")
    bpy.ops.sinew.collect(job=job.spec.id)
    monitor.tick_monitor()


def bake_newest(clock: StepClock) -> None:
    """The worker ends, its result is got ready in pieces as where a window is, and the monitor bakes it."""
    job = monitor.job_of(monitor.watched_jobs()[0].id)
    jobs.wait(job)
    baking.begin_baking(job, lambda: None)
    begun, pieces = time.perf_counter(), 0
    while not baking.is_ready(job.spec.id):
        with clock("bake, longest piece", worst=True):
            baking.tick_baking()
        pieces += 1
        time.sleep(0.005)
    clock.spent[UNTIL_BAKED] = (round(1e3 * (time.perf_counter() - begun), 2), float(pieces))
    with clock("bake"):
        requests.collect(job, baking.pop_prepared_takes(job.spec.id))
    with clock(BLENDERS_LOOK_AT_BAKED):
        bpy.context.view_layer.update()
    monitor.tick_monitor()


def end_jobs() -> None:
    """Nothing of a round runs on into the next step."""
    for view in monitor.watched_jobs():
        if view.alive or view.queued:
            bpy.ops.sinew.cancel(job=view.id)
            jobs.wait(monitor.job_of(view.id))
    monitor.tick_monitor()


def draw_each(clock: StepClock, step: str) -> None:
    """The whole tab for everything that a character can do, with all that is rarely touched."""
    chosen = bpy.context.scene.sinew
    before = chosen.what, chosen.show_advanced
    chosen.show_advanced = True
    for item in chosen.bl_rna.properties["what"].enum_items:
        chosen.what = item.identifier
        draw_panels(clock, f"{step}: {item.name}")
    chosen.what, chosen.show_advanced = before


def draw_panels(clock: StepClock, step: str) -> None:
    """Every panel of the tab that shows, as often as it takes to know the usual cost."""
    context: Any = _Context()
    panels = [panel for panel in bpy.types.Panel.__subclasses__() if getattr(panel, "bl_category", "") == "Sinew"]
    for _ in range(5):
        with clock(step, best=True):
            for panel in panels:
                if not hasattr(panel, "poll") or panel.poll(context):
                    panel.draw(SimpleNamespace(layout=_Layout()), context)


class _Layout:
    """Takes whatever is drawn."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: (_Layout(), _Layout()) if name == "panel" else _Layout()


class _Context:
    """Blender's context with a sidebar to draw in."""

    region = SimpleNamespace(width=320)

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)
