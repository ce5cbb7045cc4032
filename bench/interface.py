# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench interface``: how long each click, timer and redraw of Sinew's keeps Blender from listening to its user.

The usual way through the panels, step by step, in scenes that are easy and hard (``heavy_scenes``), each as a click
does it: what is spread over a timer or given to a thread counts by its longest piece. Of several rounds the best of
each step counts, for machines have moods; ``worked_ms`` is the processor's time of Blender's main thread alone, which
hardly depends on what else a machine does. What Blender itself does after an operator, such as its undo step, is
measured alone (``undo_push``). Panels are drawn onto a layout that takes everything and shows nothing: Blender as a
Python module has no other.
"""

import argparse
import importlib
import inspect
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy

from ..bridge.body import fitted_bodies, mesh_surface
from ..bridge.jobs import baking, monitor, preparing, requests
from ..bridge.mannequin import example_walker
from ..bridge.scene.muted_output import mute_output
from ..bridge.setup import preferences
from ..core import jobs
from ..core.control.graph.model.io import save_graph
from . import heavy_scenes
from .options import print_progress, split_words

GOAL_MS = 100.0
_PATIENCE_S = 600.0
_EVALUATED = "bake, Blender's own look at the new Action"
_CHANGED = "bounds_loosen, Blender's own look at the changed Action"
_LOOK = "Blender's own look at what changed"
_ANY_KEY = "a key by hand, Blender's own look at the changed Action"
_CLICKS = (
    "check_source",
    "fix_source",
    "give_travel",
    "retime_and_reach",
    "simulate",
    "simulate_variations",
    "stage_check",
    "graph_propose",
    "graph_learn",
    "graph_bake",
    "bounds_train",
    "bounds_bake",
    "medley_learn",
    "medley_bake",
    "library_tag_propose",
    "library_build",
    "library_picture",
    "direct_bake",
    "direct_train",
)
# What Blender does by itself, whoever gives an armature an Action or makes an undo step; and how long is waited while
# the interface goes on.
_NO_BLOCK = (
    "undo_push",
    _EVALUATED,
    _CHANGED,
    _ANY_KEY,
    *(f"{verb}, {what}" for verb in _CLICKS for what in ("until it has begun", _LOOK)),
    "bake, until it is ready",
)

_Spent = tuple[float, float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    names = ", ".join(heavy_scenes.SCENES)
    parser.add_argument(
        "--only", type=split_words, default=(), metavar="SCENES", help=f"some of: {names}; if left out, all"
    )
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="the best of so many counts (default 3)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds that each step blocks, scene by scene, and which steps take longer than they should."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    with mute_output(), _sinew_enabled():  # Blender prints what operators report, and nothing but JSON is to come out
        jobs.find_worker_python(preferences.preferred_python())  # tried out once a session
        for name in arguments.only or heavy_scenes.SCENES:
            for number in range(max(arguments.rounds, 1)):
                print_progress(f"{name}, round {number + 1}")
                for step, spent in _round(heavy_scenes.SCENES[name]).items():
                    known = found.setdefault(name, {})
                    known[step] = _each(min, known.get(step, spent), spent)
    kinds = {"blocked_ms": 0, "worked_ms": 1}
    figures = {
        kind: {name: {step: both[place] for step, both in steps.items()} for name, steps in found.items()}
        for kind, place in kinds.items()
    }
    slow = {
        name: {step: ms for step, ms in steps.items() if ms > GOAL_MS and step not in _NO_BLOCK}
        for name, steps in figures["blocked_ms"].items()
    }
    return {"goal_ms": GOAL_MS, "blender": bpy.app.version_string, **figures, "too_long": slow}


def _each(choose: Callable[[float, float], float], one: _Spent, other: _Spent) -> _Spent:
    return choose(one[0], other[0]), choose(one[1], other[1])


def _round(scene_of: Callable[[], bpy.types.Object]) -> dict[str, _Spent]:
    """Every step once, in the order of the work."""
    clock = _Clock()
    monitor.attach()
    if scene_of is heavy_scenes.mannequin_scene:
        heavy_scenes._empty()
        with clock("try_mannequin"):
            example_walker.add_walker(bpy.context.scene)  # what it does by itself; the rest is that of simulate
    armature = scene_of()
    scene, ops = bpy.context.scene, bpy.ops.sinew
    scene.sinew.method = "passthrough"
    _draw(clock, "draw, nothing done yet")
    _prepare(clock, "check_source")
    _fit(clock, scene, armature)
    scene.sinew.method = "sampling"
    _prepare(clock, "simulate")
    _follow(clock, lambda view: view.alive and view.state == "running")
    _draw(clock, "draw, while a job runs")
    with clock("pause"):
        ops.pause(job=monitor.watched_jobs()[0].id)
    with clock("cancel"):
        ops.cancel(job=monitor.watched_jobs()[0].id)
    _end_jobs()
    scene.sinew.method = "passthrough"
    ops.simulate()
    _bake(clock)
    _draw(clock, "draw, with a take")
    _after(clock, scene, armature)
    scene.sinew.retime.use_at, scene.sinew.retime.at = True, scene.frame_current
    for verb in ("fix_source", "give_travel", "retime_and_reach", "simulate_variations"):
        _prepare(clock, verb)
        _end_jobs()
    if scene_of is heavy_scenes.mannequin_scene:
        _learn(clock, scene, armature)
    _direct(clock, scene, armature)
    return clock.spent


def _learn(clock: "_Clock", scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """The clicks that learn and bake, on the character that can: each family as far as it takes seconds."""
    armature.animation_data.action.copy().name = "Another"
    bpy.ops.sinew.graph_skill_add_all()
    for verb in ("graph_propose", "graph_learn"):
        _prepare(clock, verb)
    _end_jobs()
    path = Path(bpy.app.tempdir) / "interface.graph.npz"
    save_graph(path, heavy_scenes.unlearned_graph(armature))
    armature.sinew_graph.file = str(path)
    _prepare(clock, "graph_bake")
    _end_jobs()
    settings = scene.sinew.methods.bounds_train
    settings.millions, settings.worlds, settings.warm = 0.001, 16, False
    for learn, bake in (("bounds_train", "bounds_bake"), ("medley_learn", "medley_bake")):
        _prepare(clock, learn)
        job = monitor.job_of(monitor.watched_jobs()[0].id)
        jobs.wait(job)
        requests.collect(job)
        _prepare(clock, bake)
        _end_jobs()


def _direct(clock: "_Clock", scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """The clicks about a library of the character's Actions, and those that direct it and let it practise."""
    armature.sinew_direct.way, armature.sinew_direct.target = "OBJECT", bpy.data.objects.new("Goal", None)
    armature.sinew_direct.target.location = (9.0, 0.0, 0.0)
    scene.collection.objects.link(armature.sinew_direct.target)
    for verb in ("library_tag_propose", "library_build", "library_picture", "direct_bake", "direct_train"):
        _prepare(clock, verb)
        _end_jobs()


def _fit(clock: "_Clock", scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """The overlay is switched on: what its timer does until the body is there."""
    fitted_bodies.forget_fits()
    scene.sinew_overlay.show = True
    fitted_bodies.request_fit(scene, armature)
    end = time.monotonic() + _PATIENCE_S
    while True:
        with clock("overlay timer", worst=True):
            wait = fitted_bodies._work()
        if wait is None or time.monotonic() > end:
            break
        time.sleep(0.02)
    with clock("overlay_refit"):
        fitted_bodies.refit(scene, armature)
    fitted_bodies.forget_fits()


def _prepare(clock: "_Clock", verb: str) -> None:
    """A click, and then the pieces in which its work is done."""
    mesh_surface._known.clear()  # as if it were seen for the first time
    # Without a window Blender runs no ``invoke``, which is what a click does.
    kind = bpy.types.Operator.bl_rna_get_subclass_py(f"SINEW_OT_{verb}")
    with clock(verb):
        kind.prepare(_Clicked(kind), bpy.context)
    begun, pieces = time.perf_counter(), 0
    while preparing.preparation_views():
        with clock(f"{verb}, longest piece", worst=True):
            preparing.tick_preparations()
        with clock(f"{verb}, {_LOOK}", worst=True):  # as a window does before the next piece
            bpy.context.view_layer.update()
        pieces += 1
        time.sleep(0.005)
    clock.spent[f"{verb}, until it has begun"] = (round(1e3 * (time.perf_counter() - begun), 2), float(pieces))


def _follow(clock: "_Clock", reached: Callable[[Any], bool]) -> None:
    """The monitor looks until the newest job has come so far."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        with clock("tick", worst=True):
            monitor.tick_monitor()
        if reached(monitor.watched_jobs()[0]) or not monitor.watched_jobs()[0].alive:
            return
        time.sleep(0.05)


def _bake(clock: "_Clock") -> None:
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
    clock.spent["bake, until it is ready"] = (round(1e3 * (time.perf_counter() - begun), 2), float(pieces))
    with clock("bake"):
        requests.collect(job, baking.taken(job.spec.id))
    with clock(_EVALUATED):
        bpy.context.view_layer.update()
    monitor.tick_monitor()


def _after(clock: "_Clock", scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """What an animator does with the take, and next."""
    ops = bpy.ops.sinew
    with clock("take_show_source"):
        ops.take_show_source()
    with clock("take_show"):
        ops.take_show()
    with clock("take_to_nla"):
        ops.take_to_nla()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    with clock("stage_add_push"):
        ops.stage_add_push()
    if armature.mode != "OBJECT":
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="OBJECT")
    _prepare(clock, "stage_check")
    ops.take_show_source()
    bpy.context.view_layer.update()
    kind = bpy.types.Operator.bl_rna_get_subclass_py("SINEW_OT_bounds_loosen")
    with clock("bounds_loosen"):
        assert kind.execute(_Clicked(kind, amount=1.5, frames=10, what="ALL"), bpy.context) == {"FINISHED"}
    with clock(_CHANGED):
        bpy.context.view_layer.update()
    armature["by_hand"] = 1.0
    armature.keyframe_insert('["by_hand"]')
    with clock(_ANY_KEY):  # what whoever keys anything in that Action waits for, with Sinew or without
        bpy.context.view_layer.update()
    with clock("undo_push"):
        bpy.ops.ed.undo_push(message="Bench")


def _draw(clock: "_Clock", step: str) -> None:
    """Every panel of the tab, as often as it takes to know the usual cost."""
    context: Any = _Context()
    panels = [panel for panel in bpy.types.Panel.__subclasses__() if getattr(panel, "bl_category", "") == "Sinew"]
    for _ in range(5):
        with clock(step, best=True):
            for panel in panels:
                if not hasattr(panel, "poll") or panel.poll(context):
                    panel.draw(SimpleNamespace(layout=_Layout()), context)


def _end_jobs() -> None:
    """Nothing of a round runs on into the next step."""
    for view in monitor.watched_jobs():
        if view.alive or view.queued:
            bpy.ops.sinew.cancel(job=view.id)
            jobs.wait(monitor.job_of(view.id))
    monitor.tick_monitor()


class _Clock:
    """Milliseconds by the name of a step: how long it took, and how long this thread worked."""

    def __init__(self) -> None:
        self.spent: dict[str, _Spent] = {}

    @contextmanager
    def __call__(self, step: str, *, worst: bool = False, best: bool = False) -> Iterator[None]:
        """Time what is inside; of steps that are taken again and again the worst or the best one counts."""
        begin = time.perf_counter(), time.thread_time()
        yield
        spent = round(1e3 * (time.perf_counter() - begin[0]), 2), round(1e3 * (time.thread_time() - begin[1]), 2)
        known = self.spent.get(step, spent)
        self.spent[step] = _each(max, known, spent) if worst else _each(min, known, spent) if best else spent


class _Clicked:
    """An operator without a window: what its class has, its properties' values or defaults, and reports to nowhere."""

    def __init__(self, kind: Any, **values: Any) -> None:
        self._kind = kind
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        properties = getattr(bpy.ops.sinew, self._kind.bl_idname.partition(".")[2]).get_rna_type().properties
        if name in properties and not hasattr(self._kind, name):
            return properties[name].default
        value = getattr(self._kind, name)
        return value.__get__(self) if inspect.isfunction(value) else value

    def report(self, *_: Any) -> None:
        """Nobody reads it."""


class _Layout:
    """Takes whatever is drawn."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: (_Layout(), _Layout()) if name == "panel" else _Layout()


class _Context:
    """Blender's context with a sidebar to draw in."""

    region = SimpleNamespace(width=320)

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


@contextmanager
def _sinew_enabled() -> Iterator[None]:
    """The whole add-on in this Blender, with jobs in a folder that goes away again."""
    package = importlib.import_module(preferences.ROOT_PACKAGE)
    was_there, before = hasattr(bpy.types.Scene, "sinew"), os.environ.get("SINEW_JOBS")
    with tempfile.TemporaryDirectory(prefix="sinew-interface-", ignore_cleanup_errors=True) as folder:
        os.environ["SINEW_JOBS"] = folder
        if not was_there:
            package.register()
        try:
            yield
        finally:
            _end_jobs()
            if not was_there:
                package.unregister()
            os.environ.pop("SINEW_JOBS", None)
            if before is not None:
                os.environ["SINEW_JOBS"] = before
