# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay costs a redraw while somebody scrubs, with sixty bodies and everything switched on.

Blender as a Python module cannot draw, so only what is worked out before drawing can be measured there. ``--window``
starts another Blender by the command that is given, and measures the whole of it there. With ``-b`` in the command it
draws into a picture instead of a window, which Blender can since 5.1:

    ./sinew bench overlay --window "../shared/tools/blender-window run" --seen-as /project
    ./sinew bench overlay --window "../shared/tools/blender-window run -b" --seen-as /project
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np
from mathutils import Matrix

from ..core.errors import SinewError
from . import mannequin
from .overlay import fitting, painting
from .overlay.canvas import Canvas, packed

_GOAL_MS = 4.0
_FRAMES = 60
_MARK = "SINEW-BENCH "
_ROOT = Path(__file__).resolve().parents[1]
_RUN = (
    "import runpy; runpy.run_path(r'{root}/core/entry.py')['load_package'](); "
    "from sinew.bridge import bench_overlay; bench_overlay.measure_in_window({bodies})"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's own arguments."""
    parser.add_argument("--bodies", type=int, default=60, metavar="N", help="rigid bodies at least (default 60)")
    parser.add_argument("--window", metavar="COMMAND", help="starts a Blender with a window when given its arguments")
    parser.add_argument("--seen-as", metavar="FOLDER", help="what this folder is called where that Blender runs")


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds a redraw, the median and the 95th percentile over a scrub."""
    if arguments.window:
        return _in_a_window(arguments)
    from . import register, unregister

    register()
    try:
        return {"window": False, **_scene(arguments.bodies), **_worked_out()}
    finally:
        unregister()


def measure_in_window(bodies: int) -> None:
    """In a Blender with a window: measure once it shows, print the figures, and quit."""
    from . import register

    register()

    def later() -> None:
        try:
            found = {"window": not bpy.app.background, "goal_ms": _GOAL_MS, **_scene(bodies), **_worked_out()}
            found |= _painted() if bpy.app.background else _drawn()
            found["reached"] = found["handler_ms"]["p95"] < _GOAL_MS
            sys.stdout.write(f"{_MARK}{json.dumps(found)}\n")
        finally:
            sys.stdout.flush()
            bpy.ops.wm.quit_blender()

    if bpy.app.background:
        later()
    else:
        bpy.app.timers.register(later, first_interval=3.0)


def _in_a_window(arguments: argparse.Namespace) -> dict[str, Any]:
    run = _RUN.format(root=arguments.seen_as or _ROOT, bodies=arguments.bodies)
    command = [*shlex.split(arguments.window), "--factory-startup", "--python-expr", run]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if not told:
        raise SinewError(f"'{arguments.window}' gave no figures", f"It said: {(done.stdout + done.stderr)[-400:]}")
    return json.loads(told[-1].removeprefix(_MARK))


def _scene(bodies: int) -> dict[str, Any]:
    """As many mannequins as have that many bodies, side by side and moving, with everything switched on."""
    scene = bpy.context.scene
    for obj in list(scene.objects):
        bpy.data.objects.remove(obj)
    count = 0
    while count < bodies:
        obj = mannequin.build(scene)
        for child in list(obj.children):
            bpy.data.objects.remove(child)  # the overlay alone, without the cost of deforming a mesh
        obj.location.x = len(scene.objects)
        obj.sinew_body.use_mesh = False
        for bone in obj.pose.bones:
            bone.rotation_mode = "XYZ"
            for frame in (1, _FRAMES):
                bone.rotation_euler.x = 0.003 * frame
                bone.keyframe_insert("rotation_euler", frame=frame)
        if scene.sinew.armature is None:
            scene.sinew.armature = bpy.context.view_layer.objects.active = obj
            bpy.ops.object.mode_set(mode="POSE")
        else:
            obj.sinew.role = "CHARACTER"
        bpy.context.view_layer.update()
        body = fitting.fit_now(scene, obj).body
        assert body is not None
        obj.data.bones.active = obj.data.bones["shin.L"]
        count += len(body.links)
    for switch in ("show", "ghost"):
        setattr(scene.sinew_overlay, switch, True)
    return {"characters": len(scene.objects), "bodies": count, "blender": bpy.app.version_string}


def _worked_out() -> dict[str, Any]:
    """What is done before anything is drawn."""

    def once() -> None:
        found = painting.scenery(bpy.context)
        assert found is not None
        packed(found.solids, np.eye(4))

    return {"worked_out_ms": _scrub(once)}


def _painted() -> dict[str, Any]:
    """All that the draw handler does, into a picture of a viewport's size."""
    gpu.init()
    size = (1280, 720)
    view = (
        Matrix.Translation((3.0, 0.0, 0.9)) @ Matrix.Rotation(1.4, 4, "X") @ Matrix.Translation((0, 0, 7))
    ).inverted()
    projection = Matrix(((1.4, 0, 0, 0), (0, 2.5, 0, 0), (0, 0, -1.0, -0.2), (0, 0, -1, 0)))
    picture = gpu.types.GPUOffScreen(*size)
    try:
        with picture.bind():
            canvas, pixels = Canvas(), gpu.state.active_framebuffer_get()

            def once() -> None:
                found = painting.scenery(bpy.context)
                assert found is not None
                canvas.draw(found, view, projection, size, in_front=True)

            once()
            times, worked = [], []
            for frame in range(1, _FRAMES + 1):
                bpy.context.scene.frame_set(frame)
                pixels.clear(color=(0.2, 0.2, 0.2, 1.0), depth=1.0)
                begin, begin_worked = time.perf_counter(), time.thread_time()
                once()
                times.append(1e3 * (time.perf_counter() - begin))
                worked.append(1e3 * (time.thread_time() - begin_worked))
                pixels.read_color(0, 0, 1, 1, 4, 0, "UBYTE")  # what was asked for is done before the next one begins
    finally:
        picture.free()
    return {"handler_ms": _figures(times), "handler_processor_ms": _figures(worked)}


def _drawn() -> dict[str, Any]:
    """The draw handler, and whole redraws with and without it."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    view = area.spaces.active.region_3d
    view.view_location, view.view_distance = (2.5, 0.0, 0.9), 7.0
    own, spent = bpy.context.scene.sinew_overlay, list[tuple[float, float]]()

    def once() -> None:
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.wm.redraw_timer(type="DRAW_SWAP", iterations=1)
        spent.append(painting.spent_s())

    once()  # the shader is made
    if painting.trouble():
        raise SinewError(f"The overlay does not draw: {painting.trouble()}")
    spent.clear()
    with_it = _scrub(once)
    handler, worked = (_figures([1e3 * one[which] for one in spent]) for which in (0, 1))
    own.show = False
    without = _scrub(once)
    own.show = True
    # A redraw takes a while to reach the screen, and machines have moods: so the two take turns in this one.
    more_ms = []
    for frame in range(1, _FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        both = []
        for own.show in (frame % 2 == 0, frame % 2 != 0):
            begin = time.perf_counter()
            once()
            both.append((1e3 * (time.perf_counter() - begin)) * (1.0 if own.show else -1.0))
        more_ms.append(sum(both))
    own.show = True
    more = {"redraw_ms": with_it, "redraw_without_ms": without, "more_ms": _figures(more_ms)}
    return {"handler_ms": handler, "handler_processor_ms": worked, **more}


def _scrub(once: Callable[[], None]) -> dict[str, float]:
    times = []
    for frame in range(1, _FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        begin = time.perf_counter()
        once()
        times.append(1e3 * (time.perf_counter() - begin))
    return _figures(times)


def _figures(times_ms: list[float]) -> dict[str, float]:
    return {"median": round(float(np.median(times_ms)), 3), "p95": round(float(np.quantile(times_ms, 0.95)), 3)}
