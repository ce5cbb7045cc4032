# SPDX-License-Identifier: GPL-3.0-or-later
"""``.venv/bin/python tools/street_pictures.py``: does the steps of docs/street.md, and renders what comes of them.

Takes are kept in out/street, and are not made again as long as they lie there. Needs bpy and an engine in this Python.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(__file__).resolve().parent.parent
WORK, IMAGES = ROOT / "out" / "street", ROOT / "docs" / "images" / "street"
MOST_BYTES = 230_000


def main(argv: Sequence[str]) -> int:
    """Do the steps, and render them."""
    parser = argparse.ArgumentParser(prog="tools/street_pictures.py", description="Make docs/street.md's pictures.")
    parser.add_argument("--only", nargs="*", default=list(STEPS), choices=list(STEPS), help="these steps alone")
    arguments = parser.parse_args(argv)
    runpy.run_path(str(ROOT / "core" / "entry.py"))["load_package"]()
    api, palette = importlib.import_module("sinew.api"), importlib.import_module("sinew.bridge.preview.palette")
    WORK.mkdir(parents=True, exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with api.session():
        for name in arguments.only:
            set_up, frames, seen = STEPS[name]
            blend = WORK / (name + ".blend")
            if not blend.is_file():
                _do(api, set_up, blend)
            bpy.ops.wm.open_mainfile(filepath=str(blend))
            picture = IMAGES / (name + ".png")
            preview = importlib.import_module("sinew.bridge.preview")
            shown = [bpy.context.scene.objects[one] for one in seen]
            preview.render(bpy.context.scene, picture, *frames, shown, "AUTO")
            palette.shrink(picture, MOST_BYTES)
    return 0


def _do(api: Any, set_up: Callable[[Any, Any], Any], blend: Path) -> None:
    """One step, in a new street; says how long it took and how it went."""
    bpy.ops.wm.read_homefile(use_empty=True)
    street = importlib.import_module("sinew.bridge.mannequin.tutorial_street")
    scene = bpy.context.window.scene = street.add_street(24, 1.0)
    bpy.context.view_layer.update()
    begun = time.monotonic()
    take = set_up(api, scene).take()
    print("%s: %.0f s, %s" % (blend.stem, time.monotonic() - begun, " ".join(take.sentences)), flush=True)
    api.save(blend)


def _ball(api: Any, scene: Any) -> Any:
    api.put_on_stage("Ball", "projectile", mass=3.0, speed=8.0, start_frame=30)
    return api.simulate("Walker", quality="draft")


def _boxes(api: Any, scene: Any) -> Any:
    for number in (1, 2, 3):
        box = scene.objects["Box %d" % number]
        box.location.x += 1.5
        api.put_on_stage(box, "prop", mass=2.0)
    bpy.context.view_layer.update()
    return api.simulate("Walker", quality="draft")


def _two(api: Any, scene: Any) -> Any:
    api.put_on_stage("Neighbour", "character")
    return api.simulate("Walker", quality="draft")


def _way(api: Any, scene: Any) -> Any:
    plain_walk = importlib.import_module("sinew.core.motion.plain_walk")
    importlib.import_module("sinew.core.motion.io.npz").save_clip(WORK / "walk.npz", plain_walk.plain_walk())
    api.build_library([WORK / "walk.npz"], WORK / "walk.library.npz")
    return api.direct(WORK / "walk.library.npz", "Walker", curve="Way", seconds=4.0)


STEPS = {
    "ball": (_ball, (26, 66), ("Walker", "Ball")),
    "boxes": (_boxes, (60, 107), ("Walker", "Box 1", "Box 2", "Box 3")),
    "two": (_two, (1, 107), ("Walker", "Neighbour")),
    "way": (_way, (1, 96), ("Walker",)),
}
"""What is done, which frames are shown, and who is in the picture."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
