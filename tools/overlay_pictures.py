# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of docs/overlay.md, made again in a Blender with a window.

    export WORKER_VENV=$PWD/.venv SINEW_PYTHON=$PWD/.venv/bin/python
    .venv/bin/python tools/overlay_pictures.py --window "../shared/tools/blender-window run" --seen-as /project

The walk that README.md begins with (``landing.py``) is simulated first, and kept in out/overlay_pictures. The window
opens it, shows it as the page tells, and takes pictures of its 3D view. Needs bpy and MuJoCo in this Python, and in the
worker's what it takes to fit a body to a mesh.
"""

from __future__ import annotations

import argparse
import importlib
import os
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import bpy
from mathutils import Euler, Vector

ROOT = Path(__file__).resolve().parent.parent
WORK, IMAGES = ROOT / "out" / "overlay_pictures", ROOT / "docs" / "images"
NAMES = ("body", "ghost", "edit")
MOST_BYTES = 230_000
OPEN = ("character", "body_part", "body", "overlay")
STEP_S = 1.5  # what the processor takes to draw a window, and some more


def main(argv: Sequence[str]) -> int:
    """Make what is missing, then the pictures."""
    parser = argparse.ArgumentParser(prog="tools/overlay_pictures.py", description="Make docs/overlay.md's pictures.")
    parser.add_argument("--window", required=True, metavar="COMMAND", help="starts a Blender with a window")
    parser.add_argument("--seen-as", metavar="FOLDER", default=str(ROOT), help="what this folder is called there")
    arguments = parser.parse_args(argv)
    WORK.mkdir(parents=True, exist_ok=True)
    blend = WORK / "walk.blend"
    if not blend.is_file():
        sys.path.insert(0, str(ROOT / "tools"))
        landing = importlib.import_module("landing")
        landing._walk(landing._package(), 0, WORK / "job")
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    there = arguments.seen_as + "/out/overlay_pictures/walk.blend"
    script = arguments.seen_as + "/tools/overlay_pictures.py"
    words = ["--window-geometry", "0", "0", "1600", "900", "--factory-startup", there, "--python", script]
    subprocess.run([*shlex.split(arguments.window), *words], check=True)
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    palette = importlib.import_module("sinew.bridge.preview.palette")
    for name in NAMES:
        (WORK / (name + ".png")).replace(IMAGES / ("overlay_%s.png" % name))
        palette.shrink(IMAGES / ("overlay_%s.png" % name), MOST_BYTES)
    return 0


def inside() -> None:
    """In the window: take one picture after the other, and quit."""
    bpy.context.preferences.view.show_splash = False
    sinew = _package()
    steps = _steps(sinew)

    def step() -> float | None:
        try:
            return next(steps)
        except StopIteration:
            bpy.ops.wm.quit_blender()
        except BaseException:
            bpy.ops.wm.quit_blender()
            raise
        return None

    bpy.app.timers.register(step, first_interval=STEP_S)


def _package() -> SimpleNamespace:
    """Sinew, registered with the panels of the page open and all others closed."""
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    panels = importlib.import_module("sinew.panels")
    for panel in vars(panels).values():
        if isinstance(panel, type) and issubclass(panel, bpy.types.Panel) and "HIDE_HEADER" not in _options(panel):
            is_open = panel.__name__.removeprefix("SINEW_PT_") in OPEN
            panel.bl_options = _options(panel) - {"DEFAULT_CLOSED"} | (set() if is_open else {"DEFAULT_CLOSED"})
    sys.modules["sinew"].register()
    names = {"fitted_bodies": "body.fitted_bodies", "ghosts": "overlay.ghosts", "part_editing": "body.part_editing"}
    return SimpleNamespace(**{name: importlib.import_module("sinew.bridge." + path) for name, path in names.items()})


def _options(panel: type) -> set[str]:
    return set(getattr(panel, "bl_options", ()))


def _steps(sinew: SimpleNamespace) -> Iterator[float]:
    """What is done one after the other; each gives how many seconds Blender has until the next."""
    scene = bpy.context.scene
    obj = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    push = next(obj for obj in scene.objects if obj.sinew.role == "PUSH")
    own = scene.sinew_overlay
    bpy.context.view_layer.objects.active = scene.sinew.armature = obj
    scene.sinew.action = obj.sinew_takes[-1].source
    area = next(area for area in bpy.context.window.screen.areas if area.type == "VIEW_3D")
    area.spaces.active.show_region_ui = True
    yield STEP_S
    next(region for region in area.regions if region.type == "UI").active_panel_category = "Sinew"
    own.show = True
    yield from _until(
        lambda: sinew.fitted_bodies.known_fit(obj) is not None and sinew.fitted_bodies.known_fit(obj).body is not None
    )
    push.hide_set(True)
    yield from _shot(area, "body", obj, 17)
    push.hide_set(False)
    own.ghost = True
    yield from _shot(area, "ghost", obj, push.sinew.start_frame + 1, beside=0.5)
    yield from _until(lambda: not sinew.ghosts._wanted and not sinew.ghosts._going)
    yield from _shot(area, "ghost", obj, push.sinew.start_frame + 1, beside=0.5)
    own.ghost = False
    push.hide_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    obj.data.bones.active = obj.data.bones["shin.L"]
    row = sinew.part_editing.begin_edit(scene, obj, "shin.L")
    row.use_shape, row.shape, row.edges = True, "box", (0.12, 0.12, 0.40)
    yield from _shot(area, "edit", obj, 17)


def _until(there: Callable[[], bool]) -> Iterator[float]:
    for _ in range(120):
        yield 0.5
        if there():
            return
    raise SystemExit("the body was not fitted within a minute")


def _shot(area: bpy.types.Area, name: str, obj: bpy.types.Object, frame: int, beside: float = 0.0) -> Iterator[float]:
    """Look at the character at a frame, and a little to its left; the picture goes where ``main`` finds it."""
    bpy.context.scene.frame_set(frame)
    root = obj.matrix_world @ obj.pose.bones["pelvis"].head
    view = area.spaces.active.region_3d
    view.view_rotation = Euler((1.40, 0.0, 0.75)).to_quaternion()
    view.view_location, view.view_distance = root + Vector((beside, 0.0, -0.08)), 2.4 + 1.4 * beside
    for _ in range(3):  # panels take a few redraws to find their places
        area.tag_redraw()
        yield STEP_S
    path = os.path.join(os.path.dirname(bpy.data.filepath), name + ".png")
    # Blender's own screenshots are black where the processor draws; ImageMagick sees what the screen shows.
    height = bpy.context.window_manager.windows[0].height
    part = "%dx%d+%d+%d" % (area.width, area.height, area.x, height - area.y - area.height)
    shrunk = ["-crop", part, "+repage", "-resize", "1000x", "-depth", "8"]
    subprocess.run(["import", "-window", "root", *shrunk, path], check=True)


if __name__ == "__main__":
    if bpy.app.background or bpy.app.module:
        sys.exit(main(sys.argv[1:]))
    inside()
