# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay costs a redraw, with sixty bodies and everything switched on: while somebody scrubs, while they look
around at a frame, and where nothing has changed at all. Bounds, which one character alone has, are measured apart.

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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np
from mathutils import Matrix, Quaternion

from ..bridge import mannequin
from ..bridge.body import fitted_bodies
from ..bridge.overlay import draw_handler
from ..bridge.overlay.canvas import Canvas, flatten_solids, sort_back_to_front
from ..bridge.overlay.layers import LAYERS
from ..core.errors import SinewError

_GOAL_MS = 4.0
_FRAMES = 60
_MARK = "SINEW-BENCH "
_Spent = tuple[float, float]  # seconds by the clock, and of the processor's time
_ROOT = Path(__file__).resolve().parents[1]
_RUN = (
    "import runpy; runpy.run_path(r'{root}/core/entry.py')['load_package'](); "
    "from sinew.bench import overlay; overlay.measure_in_window({bodies})"
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
    from ..bridge import register, unregister

    register()
    try:
        return {"window": False, **_scene(arguments.bodies), **_worked_out()}
    finally:
        unregister()


def measure_in_window(bodies: int) -> None:
    """In a Blender with a window: measure once it shows, print the figures, and quit."""
    from ..bridge import register

    register()

    def later() -> None:
        try:
            found = {"window": not bpy.app.background, "goal_ms": _GOAL_MS, **_scene(bodies), **_worked_out()}
            found |= _painted() if bpy.app.background else _drawn()
            found["reached"] = found["scrub"]["handler_ms"]["p95"] < _GOAL_MS
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
    marked = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if not marked:
        raise SinewError(f"'{arguments.window}' gave no figures", f"It said: {(done.stdout + done.stderr)[-400:]}")
    return json.loads(marked[-1].removeprefix(_MARK))


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
        body = fitted_bodies.fit_now(scene, obj).body
        assert body is not None
        obj.data.bones.active = obj.data.bones["shin.L"]
        count += len(body.links)
    for switch in ("show", *LAYERS):
        setattr(scene.sinew_overlay, switch, switch != "bounds")
    return {"characters": len(scene.objects), "bodies": count, "blender": bpy.app.version_string}


def _worked_out() -> dict[str, Any]:
    """What is done before anything is drawn, while somebody scrubs."""
    spent, toward = list[_Spent](), np.array([0.0, 0.0, 1.0])
    for _ in _scrub():
        begin = _now()
        found = draw_handler.current_draw_list(bpy.context)
        assert found is not None
        sort_back_to_front(flatten_solids(found.solids), toward)
        spent.append(_since(begin))
    clock, processor = _both(spent)
    return {"worked_out_ms": clock, "worked_out_processor_ms": processor}


def _painted() -> dict[str, Any]:
    """All that the draw handler does, into a picture of a viewport's size."""
    gpu.init()
    size = (1280, 720)
    view = Matrix.Translation((0, 0, -7)) @ Matrix.Rotation(-1.4, 4, "X") @ Matrix.Translation((-3.0, 0.0, -0.9))
    projection = Matrix(((1.4, 0, 0, 0), (0, 2.5, 0, 0), (0, 0, -1.0, -0.2), (0, 0, -1, 0)))
    picture = gpu.types.GPUOffScreen(*size)
    try:
        with picture.bind():
            canvas, pixels = Canvas(), gpu.state.active_framebuffer_get()

            def once(turn: Matrix) -> _Spent:
                pixels.clear(color=(0.2, 0.2, 0.2, 1.0), depth=1.0)
                begin = _now()
                found = draw_handler.current_draw_list(bpy.context)
                assert found is not None
                canvas.draw(found, view @ turn, projection, size, in_front=True)
                spent = _since(begin)
                pixels.read_color(0, 0, 1, 1, 4, 0, "UBYTE")  # what was asked for is done before the next one begins
                return spent

            straight = Matrix.Identity(4)
            once(straight)
            return {
                "scrub": _handler([once(straight) for _ in _scrub()]),
                "orbit": _handler([once(Matrix.Rotation(0.02 * step, 4, "Z")) for step in range(_FRAMES)]),
                "still": _handler([once(straight) for _ in range(_FRAMES)]),
                "scrub_with_bounds": _handler([once(straight) for _ in _with_bounds(_scrub())]),
            }
    finally:
        picture.free()


def _drawn() -> dict[str, Any]:
    """The draw handler, and whole redraws with and without it."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    view = area.spaces.active.region_3d
    view.view_location, view.view_distance = (2.5, 0.0, 0.9), 7.0
    own = bpy.context.scene.sinew_overlay

    def once() -> _Spent:
        """A whole redraw, by the clock and of the processor's time."""
        begin = _now()
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.wm.redraw_timer(type="DRAW_SWAP", iterations=1)
        return _since(begin)

    once()  # the shader is made
    if draw_handler.draw_error():
        raise SinewError(f"The overlay does not draw: {draw_handler.draw_error()}")

    def handler(steps: Iterable[Any]) -> tuple[dict[str, Any], list[_Spent]]:
        whole, spent = list[_Spent](), list[_Spent]()
        for _ in steps:
            whole.append(once())
            spent.append(draw_handler.draw_time_s())
        return _handler(spent), whole

    scrub, whole = handler(_scrub())
    found = {"scrub": scrub, "orbit": handler(_turned(view))[0], "still": handler(range(_FRAMES))[0]}
    found["scrub_with_bounds"] = handler(_with_bounds(_scrub()))[0]
    found["redraw_ms"] = _both(whole)[0]
    own.show = False
    found["redraw_without_ms"] = _both([once() for _ in _scrub()])[0]
    # A redraw takes a while to reach the screen, and machines have moods: so the two take turns in this one.
    more_s = []
    for frame in _scrub():
        both = []
        for own.show in (frame % 2 == 0, frame % 2 != 0):
            both.append(once()[0] * (1.0 if own.show else -1.0))
        more_s.append(sum(both))
    own.show = True
    return {**found, "more_ms": _figures(more_s)}


def _scrub() -> Iterator[int]:
    """Every frame in turn, each once the scene is there."""
    for frame in range(1, _FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        yield frame


def _turned(view: bpy.types.RegionView3D) -> Iterator[int]:
    """Look around at one frame."""
    for step in range(_FRAMES):
        view.view_rotation = Quaternion((0.0, 0.0, 1.0), 0.02) @ view.view_rotation
        yield step


def _with_bounds(steps: Iterator[int]) -> Iterator[int]:
    own = bpy.context.scene.sinew_overlay
    own.bounds = True
    yield from steps
    own.bounds = False


def _now() -> _Spent:
    return time.perf_counter(), time.thread_time()


def _since(begin: _Spent) -> _Spent:
    clock, processor = _now()
    return clock - begin[0], processor - begin[1]


def _handler(spent: list[_Spent]) -> dict[str, Any]:
    clock, processor = _both(spent)
    return {"handler_ms": clock, "handler_processor_ms": processor}


def _both(spent: list[_Spent]) -> tuple[dict[str, float], dict[str, float]]:
    return _figures([one[0] for one in spent]), _figures([one[1] for one in spent])


def _figures(times_s: list[float]) -> dict[str, float]:
    """Milliseconds."""
    median, p95 = np.median(times_s), np.quantile(times_s, 0.95)
    return {"median": round(1e3 * float(median), 3), "p95": round(1e3 * float(p95), 3)}
