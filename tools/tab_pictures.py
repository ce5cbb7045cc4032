# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the whole tab as an animator sees it: empty, with a character, with a take, large, narrow, in German.

    .venv/bin/python tools/tab_pictures.py --window "../shared/tools/blender-window sh" --seen-as /project

A scene with a take and a push is made first, with bpy. The window, on a virtual screen of its own that is taller than
any (with Xvfb, ImageMagick and xdotool), opens it and takes a picture of the sidebar for each row of ``SHOTS``. They go
to out/tab_pictures, and those that pages show to docs/images/tab.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(__file__).resolve().parent.parent
WORK, IMAGES = ROOT / "out" / "tab_pictures", ROOT / "docs" / "images" / "tab"
SCREEN = (1600, 2300)
STEP_S = 1.2  # what the processor takes to draw a window, and some more
MOST_BYTES = 120_000


@dataclass(frozen=True)
class Shot:
    """One picture: the file that is open, what is chosen, which panels are open, and how Blender is set up."""

    name: str
    blend: str = ""
    what: str = "ACTION"
    opened: tuple[str, ...] = ()
    advanced: bool = False
    scale: float = 1.0
    width: int = 0
    language: str = "en_US"
    page: bool = False


SHOTS = (
    Shot("empty"),
    Shot("character", "walk"),
    Shot("take", "take", page=True),
    Shot("advanced", "take", advanced=True, opened=("body", "stage")),
    Shot("skills", "take", what="SKILLS"),
    Shot("bounds", "take", what="BOUNDS"),
    Shot("library", "take", what="LIBRARY", page=True),
    Shot("cues", "take", what="CUES"),
    Shot("itself", "take", what="ITSELF"),
    Shot("large", "take", scale=1.5, opened=("stage",)),
    Shot("narrow", "take", width=190, opened=("stage",)),
    Shot("large_library", "take", what="LIBRARY", scale=1.5, width=220),
)


def main(argv: Sequence[str]) -> int:
    """Make the scenes, then the pictures."""
    parser = argparse.ArgumentParser(prog="tools/tab_pictures.py", description="Make the pictures of the tab.")
    parser.add_argument("--window", required=True, metavar="COMMAND", help="runs a command where Blender has a window")
    parser.add_argument("--seen-as", metavar="FOLDER", default=str(ROOT), help="what this folder is called there")
    parser.add_argument("--only", nargs="*", default=[shot.name for shot in SHOTS], help="these pictures alone")
    arguments = parser.parse_args(argv)
    WORK.mkdir(parents=True, exist_ok=True)
    if not (WORK / "take.blend").is_file():
        _make_scenes()
    size = "%dx%dx24" % SCREEN
    blender = "blender --gpu-backend opengl --factory-startup --window-geometry 0 0 %d %d" % SCREEN
    script = "%s/tools/tab_pictures.py" % arguments.seen_as
    line = (
        "Xvfb :78 -screen 0 %s +extension GLX >/dev/null 2>&1 & screen=$!; sleep 2; export DISPLAY=:78; "
        "%s --python %s -- %s %s; kill $screen" % (size, blender, script, arguments.seen_as, " ".join(arguments.only))
    )
    subprocess.run([*shlex.split(arguments.window), "sh", "-c", line], check=True)
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    palette = importlib.import_module("sinew.bridge.preview.palette")
    IMAGES.mkdir(exist_ok=True)
    for shot in SHOTS:
        made = WORK / (shot.name + ".png")
        if shot.page and shot.name in arguments.only:
            (IMAGES / made.name).write_bytes(made.read_bytes())
            palette.shrink(IMAGES / made.name, MOST_BYTES)
    return 0


def _make_scenes() -> None:
    """walk.blend: a mannequin that walks. take.blend: with a take of it, and a push on its chest."""
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    api = importlib.import_module("sinew.api")
    with api.session():
        hero = api.open_character("walk")
        bpy.context.scene.sinew.armature = hero.obj
        api.save(WORK / "walk.blend")
        api.place_push(hero, force=200, frame=40)
        api.simulate(hero, quality="draft").take()
        api.save(WORK / "take.blend")


def inside(folder: str, names: Sequence[str]) -> None:
    """In the window: take one picture after the other, and quit."""
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.view.use_save_prompt = False
    sys.path.insert(0, folder)
    runpy.run_path(folder + "/core/entry.py")["load_package"]().register()
    steps = _steps(Path(folder) / "out" / "tab_pictures", [shot for shot in SHOTS if shot.name in names])

    def step() -> float | None:
        try:
            return next(steps)
        except StopIteration:
            bpy.ops.wm.quit_blender()
        except BaseException:
            bpy.ops.wm.quit_blender()
            raise
        return None

    bpy.app.timers.register(step, first_interval=STEP_S, persistent=True)


def _steps(work: Path, shots: Sequence[Shot]) -> Iterator[float]:
    """What is done one after the other; each gives how many seconds Blender has until the next."""
    for shot in shots:
        if shot.blend:
            bpy.ops.wm.open_mainfile(filepath=str(work / (shot.blend + ".blend")), load_ui=False)
        else:
            bpy.ops.wm.read_homefile(use_empty=False, load_ui=False)
        yield STEP_S
        view = bpy.context.preferences.view
        view.ui_scale = shot.scale
        view.language = shot.language
        view.use_translate_interface = view.use_translate_tooltips = shot.language != "en_US"
        area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
        area.spaces.active.show_region_ui = True
        yield STEP_S
        region = next(region for region in area.regions if region.type == "UI")
        region.active_panel_category = "Sinew"
        _choose(shot)
        yield from _widen(region, shot.width or int(300 * shot.scale))
        for _ in range(3):  # panels take a few redraws to find their places
            area.tag_redraw()
            yield STEP_S
        # Blender's own screenshots are black where the processor draws; ImageMagick sees what the screen shows.
        height = bpy.context.window_manager.windows[0].height
        part = "%dx%d+%d+%d" % (region.width, region.height, region.x, height - region.y - region.height)
        shown = ["-crop", part, "+repage", "-depth", "8"]
        subprocess.run(["import", "-window", "root", *shown, str(work / (shot.name + ".png"))], check=True)


def _choose(shot: Shot) -> None:
    chosen: Any = bpy.context.scene.sinew
    if chosen.armature is not None and chosen.armature.sinew_takes:
        chosen.action = chosen.armature.sinew_takes[-1].source
    if hasattr(chosen, "what"):
        chosen.what = shot.what
    if hasattr(chosen, "show_advanced"):
        chosen.show_advanced = shot.advanced
    _unfold(shot.opened)


def _unfold(names: Sequence[str]) -> None:
    """Let these panels that are closed at first be open: a panel is as it was registered until somebody folds it."""
    panels = importlib.import_module("sinew.panels")
    panels.unregister()
    for kind in vars(panels).values():
        options = getattr(kind, "bl_options", set())
        if isinstance(kind, type) and kind.__name__.removeprefix("SINEW_PT_") in names:
            kind.bl_options = set(options) - {"DEFAULT_CLOSED"}
    panels.register()


def _widen(region: Any, width: int) -> Iterator[float]:
    """Drag the sidebar's edge until it is that wide."""
    window = bpy.context.window_manager.windows[0]
    y = window.height - region.y - 40  # where nothing is drawn
    for _ in range(3):
        if abs(region.width - width) < 12:
            return
        begin, end = region.x, region.x + region.width - width
        places = [begin - 30, begin - 3, begin - 2]
        # It takes a while until a press is seen, and then it is where the mouse is by then.
        line = " ".join("mousemove %d %d sleep 1" % (x, y) for x in places) + " mousedown 1 sleep 2 "
        steps = [begin + (end - begin) * part // 3 for part in (1, 2, 3)]
        line += " ".join("mousemove %d %d sleep 1" % (x, y) for x in steps) + " sleep 1 mouseup 1"
        subprocess.Popen(["xdotool", *line.split()])
        yield 14.0


if __name__ == "__main__":
    if bpy.app.background or bpy.app.module:
        sys.exit(main(sys.argv[1:]))
    given = sys.argv[sys.argv.index("--") + 1 :]
    inside(given[0], given[1:])
