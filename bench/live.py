# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench live``: what a live character costs Blender's main thread, how soon a command shows, whether it is in time.

The mannequin's walk is live in this process, as in the window, for ``--seconds``, and pushed now and then. Blender's
own drawing is not in it. ``--only worker`` measures the worker alone with ``--learned FILE`` for so many characters,
and ``--only streaming`` how long after the click the first pose of a simulation is there to be seen. ``--only window``
takes what a session in a real window has measured (``python3 -m tools.session.live --only figures``). Each row says
``what`` was measured; rows are kept where ``--rows`` says, and ``--page`` puts the newest into a page.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bridge.importing.importers import open_input
from ..bridge.jobs import monitor
from ..bridge.jobs.preparing import do_at_once
from ..bridge.jobs.requests import Request, find_armature
from ..bridge.live import running
from ..bridge.live.recipes import METHOD, begin_live_recipe
from ..core.errors import SinewError
from ..core.motion.io.npz import save_clip
from ..core.motion.plain_walk import plain_walk
from .live_worker import measure_worker
from .options import print_progress
from .rows import Row, append_row, code_version, describe_machine, newest_rows, read_rows

_PUSH_EVERY_S, _PATIENCE_S = 2.0, 300.0
_PARTS = ("blender", "worker", "streaming", "memory", "window")
BONES = 60
"""Of the character whose cost is told: its simulated bones, and others that ride on them."""
_SIMULATED_S = 10.0
_BEGIN, _END = "<!-- figures: ./sinew bench live --page docs/live.md -->", "<!-- end of figures -->"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="how long it is live (default 20)")
    parser.add_argument("--clip", default="walk", metavar="NAME", help="stock clip or file (default walk)")
    parser.add_argument("--only", choices=_PARTS, default="blender", help="what is measured (default blender)")
    parser.add_argument("--learned", type=Path, metavar="FILE", help="what is live in 'worker', instead of the clip")
    parser.add_argument("--characters", type=int, default=1, metavar="N", help="how many there are in 'worker'")
    parser.add_argument("--report", type=Path, metavar="FILE.json", help="of the session in a window, for 'window'")
    parser.add_argument("--rows", type=Path, metavar="FILE.jsonl", help="add the row to this file")
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="put the newest rows of --rows into a page")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Figures of a session; times in milliseconds."""
    if arguments.page:
        write_page(arguments.page, read_rows(arguments.rows))
        return {"page": str(arguments.page)}
    if arguments.only == "worker":
        row = measure_worker(arguments.clip, arguments.learned, arguments.characters, arguments.seconds)
    elif arguments.only == "window":
        row = _read_window(arguments.report)
    else:
        row = _in_blender(arguments)
    row |= {"code": code_version(), "machine": describe_machine()}
    if arguments.rows:
        append_row(arguments.rows, row)
    return row


def _read_window(path: Path | None) -> Row:
    """What a session in a window has measured."""
    if path is None or not path.is_file():
        raise SinewError("There is no report of a session in a window", "Make one: tools.session.live --only figures")
    report = json.loads(path.read_text(encoding="utf-8"))
    return {"what": "a take in Blender's window", "blender": report["blender"], **report["kept"]["figures"]}


def _in_blender(arguments: argparse.Namespace) -> Row:
    import importlib

    package = importlib.import_module(__package__.rpartition(".")[0])
    package.register()
    about = {"blender": bpy.app.version_string}
    try:
        if arguments.only == "streaming":
            _open_walk()
            return {"what": "first pose of a simulation", **about, **_time_streaming()}
        open_input(arguments.clip, 1.0)
        add_riders(find_armature(), BONES)
        if arguments.only == "memory":
            found = _run_session(find_armature().name, arguments.seconds)
            names = ("seconds", "worker_memory_mb", "worker_memory_grown_mb", "blender_memory_grown_mb")
            return {"what": "memory", **about, **{name: found[name] for name in names}}
        return {
            "what": "a take in Blender",
            **about,
            **_run_session(find_armature().name, arguments.seconds),
        }
    finally:
        running.end_session()
        package.unregister()


def _time_streaming() -> dict[str, Any]:
    """Seconds from the click on Simulate, of a walk of ten seconds, until its first pose can be drawn."""
    scene, obj = bpy.context.scene, find_armature()
    scene.sinew.armature = obj
    clicked_s, poses = time.perf_counter(), list[float]()
    bpy.ops.sinew.simulate()
    made_s = time.perf_counter() - clicked_s
    (view,) = [one for one in monitor.watched_jobs() if one.alive or one.state == "starting"]
    job = monitor.job_of(view.id)
    while len(poses) < 2 and time.perf_counter() - clicked_s < _PATIENCE_S:
        found = job.shown()
        if found is not None and (not poses or len(found[0]["link_pos"]) > 1):
            poses.append(time.perf_counter() - clicked_s)
        time.sleep(0.02)
    job.touch(job.cancel_file)
    return {"job_made_s": made_s, "first_pose_s": poses[0], "second_pose_s": poses[-1], "simulated_s": _SIMULATED_S}


def _open_walk() -> None:
    """A character that walks for as long as is simulated."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "walk.npz"
        save_clip(path, plain_walk(_SIMULATED_S, 60.0))
        open_input(str(path), 1.0)


def write_page(path: Path, rows: list[Row]) -> None:
    """Put the newest row of each kind into a page, between its marks."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    lines = ["| what | figure | goal | code |", "|---|---|---|---|"]
    for row in newest_rows(rows, ("what", "blender")):
        lines += [f"| {what} | {figure} | {goal} | {row['code']} |" for what, figure, goal in _tell(row)]
    path.write_text(f"{before}{_BEGIN}\n" + "\n".join(lines) + f"\n{_END}{after}", encoding="utf-8")


def _tell(row: Row) -> list[tuple[str, str, str]]:
    """What a page says of a row: what, figure and goal."""
    if row["what"] == "first pose of a simulation":
        second = f"{row['second_pose_s']:.1f} s"
        return [
            ("click to the first pose of a simulation of 10 s", f"{row['first_pose_s']:.1f} s", "2 s"),
            ("click to the first motion that was found", second, ""),
        ]
    if row["what"] == "a take in Blender":
        where, spent, late = f"bpy {row['blender']}", row["main_thread_wall_ms"], row["command_to_pose_ms"]
        return [
            (f"main thread, a frame of {row['bones']} bones, {where}", _tell_spread(spent, 2), "4, 8 ms"),
            (f"command to pose, {where}", _tell_spread(late, 0), "53 ms"),
            (f"a take, frames a second, {where}", f"{row['frames_a_second']:.1f}", "60"),
        ]
    if row["what"] == "a take in Blender's window":
        where, frame = f"window of {row['blender']}", row["screen_frame_ms"]["median"]
        return [
            (
                f"main thread, a frame of {row['bones']} bones, {where}",
                _tell_spread(row["main_thread_ms"], 2),
                "4, 8 ms",
            ),
            (f"a frame of its screen, {where}", _tell_spread(row["screen_frame_ms"], 0), ""),
            (f"command to drawn, {where}", _tell_spread(row["command_to_drawn_ms"], 0), f"{2 * frame + 20:.0f} ms"),
            (f"a take, frames a second, {where}", f"{row['frames_a_second']:.1f}", "60"),
        ]
    if row["what"] == "memory":
        grown = f"{row['worker_memory_grown_mb']:.1f} MB and {row['blender_memory_grown_mb']:.1f} MB"
        return [(f"memory that worker and Blender take more after {row['seconds']:.0f} s", grown, "20 MB")]
    cost = f"{row['frames_a_second']:.1f} of 60 a second, {row['step_ms']:.1f} ms of processor time each"
    return [(row["what"], cost, "60")]


def _tell_spread(spread: dict[str, float], digits: int) -> str:
    """Median and 95th percentile, in words."""
    return f"{spread['median']:.{digits}f} ms, 95 % {spread['p95']:.{digits}f} ms"


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
    pushed_s, memory, own, shown = begun_s, _memory_mb(worker), _memory_mb(os.getpid()), 0
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
        "main_thread_ms": spread_of(np.array(spent_ms)),
        "main_thread_wall_ms": spread_of(1000.0 * np.array(session.spent_s)),
        "command_to_pose_ms": spread_of(1000.0 * np.array(session.late_s)),
        "main_thread_share": (time.thread_time() - worked_s) / lasted_s,
        "worker_memory_mb": memory,
        "worker_memory_grown_mb": _memory_mb(worker) - memory,
        "blender_memory_grown_mb": _memory_mb(os.getpid()) - own,
    }


def add_riders(obj: bpy.types.Object, count: int) -> None:
    """Give an armature so many bones in all: what it lacks rides on its last one, as fingers do."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bones = obj.data.edit_bones
    holder = bones[-1]
    for number in range(len(bones), count):
        bone = bones.new(f"rider{number:02}")
        bone.head, bone.tail = holder.tail, holder.tail + (holder.tail - holder.head) * 0.2
        bone.parent = holder
    bpy.ops.object.mode_set(mode="OBJECT")


def spread_of(values: np.ndarray) -> dict[str, float]:
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
