# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole session with Sinew in a real Blender, by mouse and keyboard on a virtual screen, a picture of every step.

    ./sinew build --platform linux-x64
    python3 -m tools.session dist/sinew-0.1.0-linux_x64.zip --blender blender

It needs Xvfb, xdotool and ImageMagick, and NumPy in the Python that runs it. Pictures and ``report.json`` (seconds,
clicks, and how long Blender's interface was held up at most) go to out/session/window. Without a window the same steps
are a test: tests/bpy/test_session.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
import traceback

from . import steps
from .console import complaints
from .window import WindowDesk

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def main(argv: list[str]) -> int:
    """Do the session and say how it went."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.session", description=__doc__.splitlines()[0])
    parser.add_argument("zip", help="the extension's zip, with wheels for that Blender's Python")
    parser.add_argument("--blender", default="blender --gpu-backend opengl", help="how Blender is started")
    parser.add_argument("--display", default=":77", help="the virtual screen's name (default :77)")
    parser.add_argument("--until", choices=[step.__name__ for step in steps.STEPS], help="stop after this step")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "session", "window"), help="where it all goes")
    given = parser.parse_args(argv)
    desk = WindowDesk(shlex.split(given.blender), given.out, os.path.abspath(given.zip), given.display)
    report: dict = {"steps": {}}
    try:
        desk.start()
        report["blender"] = desk.facts()["blender"]
        went_well = run(desk, report, given.until)
    finally:
        desk.close()
    report["console"] = complaints(desk.log)
    with open(os.path.join(given.out, "report.json"), "w", encoding="utf-8") as stream:
        json.dump(report, stream, indent=2)
    print(json.dumps(report, indent=2))
    return 0 if went_well and not report["console"] else 1


def run(desk: WindowDesk, report: dict, until: str | None) -> bool:
    """Do the steps in turn; False where one failed, which is then seen on the last picture."""
    clicks = seconds = 0.0
    for step in steps.STEPS:
        begun, before = time.monotonic(), desk.screen.clicks
        row = report["steps"][step.__name__] = {"what": str(step.__doc__)}
        try:
            step(desk)
        except Exception:  # noqa: BLE001 - whatever it is, it is told with a picture
            row["failed"] = traceback.format_exc()
            desk.look("failed")
            return False
        row["seconds"], row["clicks"] = round(time.monotonic() - begun, 1), desk.screen.clicks - before
        if desk.blender is not None:
            row["longest_wait_ms"] = round(1e3 * desk.ask("longest_wait_s"))
        print("%-16s %5.1f s  %d clicks" % (step.__name__, row["seconds"], row["clicks"]), flush=True)
        if step in steps.FIRST:
            clicks, seconds = clicks + row["clicks"], seconds + row["seconds"]
            report["first_action"] = {"clicks": int(clicks), "seconds": round(seconds, 1)}
        if step.__name__ == until:
            break
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
