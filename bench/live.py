# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench live``: what a live character costs Blender's main thread, how soon a command shows, whether it is in time.

The mannequin's walk is live in this process, as in the window, for ``--seconds``, and pushed now and then. Blender's
own drawing is not in it. Memory is that of the worker.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bridge.importing.importers import open_input
from ..bridge.jobs.preparing import do_at_once
from ..bridge.jobs.requests import Request, find_armature
from ..bridge.live import posing, running
from ..bridge.live.recipes import METHOD, begin_live_recipe
from ..core.errors import SinewError
from .options import print_progress

_PUSH_EVERY_S, _PATIENCE_S = 2.0, 300.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="how long it is live (default 20)")
    parser.add_argument("--clip", default="walk", metavar="NAME", help="stock clip or file (default walk)")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Figures of a session; times in milliseconds."""
    import importlib

    package = importlib.import_module(__package__.rpartition(".")[0])
    package.register()
    try:
        open_input(arguments.clip, 1.0)
        return {
            "blender": bpy.app.version_string,
            "sixty_bones": _time_posing(60),
            **_run_session(find_armature().name, arguments.seconds),
        }
    finally:
        running.end_session()
        package.unregister()


def _run_session(name: str, seconds: float) -> dict[str, Any]:
    """A session of so many seconds."""
    do_at_once(begin_live_recipe(Request(armature=name, method=METHOD, settings={"quality": "draft"})))
    session = running.require_running()
    asked_s = time.perf_counter()
    while session.pose is None:
        if running.running() is None or time.perf_counter() - asked_s > _PATIENCE_S:
            raise SinewError("The session did not begin", "Look at what was said before")
        running.tick_live()
        time.sleep(0.002)
    ready_s = time.perf_counter() - asked_s
    worker = session.link.process.pid
    print_progress("live")
    begun_s, first, worked_s = time.perf_counter(), session.pose.frame, time.thread_time()
    pushed_s, memory, shown = begun_s, _memory_mb(worker), 0
    spent_ms: list[float] = []
    while time.perf_counter() - begun_s < seconds and running.running() is not None:
        frame = session.pose.frame
        before_s = time.thread_time()
        wait_s = running.tick_live()
        if session.pose.frame != frame:
            spent_ms.append(1000.0 * (time.thread_time() - before_s))
            shown += 1
        if time.perf_counter() - pushed_s > _PUSH_EVERY_S:
            pushed_s = time.perf_counter()
            trunk = session.links[0][min(1, len(session.links[0]) - 1)]
            session.send({"do": "push", "bone": trunk, "force": [0.0, 1.5 * session.masses[0], 0.0]})
        time.sleep(min(wait_s or 0.0, 0.004))
    lasted_s = time.perf_counter() - begun_s
    return {
        "bones": len(session.posers[0].bones),
        "ready_s": ready_s,
        "seconds": lasted_s,
        "frames_a_second": (session.pose.frame - first) / lasted_s,
        "shown_a_second": shown / lasted_s,
        "main_thread_ms": _spread(np.array(spent_ms)),
        "main_thread_wall_ms": _spread(1000.0 * np.array(session.spent_s)),
        "command_to_pose_ms": _spread(1000.0 * np.array(session.late_s)),
        "main_thread_share": (time.thread_time() - worked_s) / lasted_s,
        "worker_memory_mb": memory,
        "worker_memory_grown_mb": _memory_mb(worker) - memory,
    }


def _time_posing(bones: int) -> dict[str, float]:
    """Milliseconds of the main thread for a pose of so many bones on an armature."""
    data = bpy.data.armatures.new("Bench")
    obj = bpy.data.objects.new("Bench", data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    last = None
    for number in range(bones):
        bone = data.edit_bones.new(f"b{number:02}")
        bone.head, bone.tail = (0.0, 0.0, 0.1 * number), (0.0, 0.0, 0.1 * number + 0.1)
        bone.parent, last = last, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    poser = posing.ArmaturePoser(obj, tuple(bone.name for bone in obj.pose.bones), 1.0)
    rng, spent_ms = np.random.default_rng(0), []
    for _ in range(600):
        pos, quat = rng.normal(size=(bones, 3)), rng.normal(size=(bones, 4))
        quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
        before_s = time.thread_time()
        poser.apply(pos.astype(np.float32), quat.astype(np.float32))
        spent_ms.append(1000.0 * (time.thread_time() - before_s))
    poser.restore()
    bpy.data.objects.remove(obj)
    bpy.data.armatures.remove(data)
    return _spread(np.array(spent_ms))


def _spread(values: np.ndarray) -> dict[str, float]:
    """Median, 95th percentile and how many."""
    if not len(values):
        return {"count": 0}
    return {"median": float(np.median(values)), "p95": float(np.percentile(values, 95)), "count": len(values)}


def _memory_mb(pid: int) -> float:
    """What a process holds in memory, on Linux; NaN elsewhere."""
    try:
        rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next((int(row.split()[1]) / 1024.0 for row in rows if row.startswith("VmRSS:")), float("nan"))
