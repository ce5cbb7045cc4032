# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole session with Sinew in a real Blender, by mouse and keyboard on a virtual screen, a picture of every step.

    ./sinew build --platform linux-x64
    python3 -m tools.session dist/sinew-0.1.0-linux_x64.zip --blender blender

It needs Xvfb, xdotool and ImageMagick, and NumPy in the Python that runs it. Pictures and ``report.json`` (seconds
without those for pictures, clicks, and how long Blender's interface was held up at most, and how much of that by Sinew)
go to out/session/window. Without a window the same steps are a test: tests/bpy/package/test_session.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Sequence

from . import steps
from .console import complaints
from .desk import Desk
from .window import WindowDesk

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def main(argv: list[str]) -> int:
    """Do the session and say how it went."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.session", description=__doc__.splitlines()[0])
    parser.add_argument("zip", help="the extension's zip, with wheels for that Blender's Python")
    parser.add_argument("--blender", default="blender --gpu-backend opengl", help="how Blender is started")
    parser.add_argument("--display", default=":77", help="the virtual screen's name (default :77)")
    names = [step.__name__ for step in steps.STEPS]
    parser.add_argument("--until", choices=names, default=names[-1], help="save and quit after this step")
    parser.add_argument("--begin", choices=names, default=names[0], help="go on with this step where --until saved")
    parser.add_argument("--light", action="store_true", help="only go through the motions: nothing is simulated")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "session", "window"), help="where it all goes")
    given = parser.parse_args(argv)
    chosen = steps.STEPS[names.index(given.begin) : names.index(given.until) + 1]
    goes_on = chosen[0] is not steps.STEPS[0]
    where = (given.out, os.path.abspath(given.zip), given.display)
    desk = WindowDesk(shlex.split(given.blender), *where, light=given.light, goes_on=goes_on)
    report = earlier(given.out) if goes_on else {"steps": {}}
    try:
        desk.start(desk.blend if goes_on else "")
        if goes_on:
            desk.open_tab()
        report["blender"] = desk.facts()["blender"]
        went_well = run(desk, report, chosen)
        if went_well and chosen[-1] is not steps.STEPS[-1]:
            desk.save()
            desk.quit()
    finally:
        desk.close()
    print(json.dumps(report, indent=2))
    return 0 if went_well and not report["console"] else 1


def write(report: dict, desk: WindowDesk) -> None:
    """Keep what is known by now, with the sums of the first steps and what the console said."""
    first = [report["steps"].get(step.__name__, {}) for step in steps.FIRST]
    report["first_action"] = {key: round(sum(row.get(key, 0) for row in first), 1) for key in ("clicks", "seconds")}
    report["console"] = complaints(desk.log, desk.expected)
    with open(os.path.join(desk.work, "report.json"), "w", encoding="utf-8") as stream:
        json.dump(report, stream, indent=2)


def earlier(folder: str) -> dict:
    """What the part before has reported."""
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as stream:
        return json.load(stream)


def run(desk: WindowDesk, report: dict, chosen: Sequence[Callable[[Desk], None]]) -> bool:
    """Do the steps in turn; False where one failed, which is then seen on the last picture."""
    for step in chosen:
        begun, before = time.monotonic() - desk.looking_s, desk.screen.clicks
        row = report["steps"][step.__name__] = {"what": str(step.__doc__)}
        try:
            step(desk)
        except Exception:  # noqa: BLE001 - whatever it is, it is told with a picture
            row["failed"] = traceback.format_exc()
            write(report, desk)
            desk.look("failed")
            return False
        row["seconds"] = round(time.monotonic() - desk.looking_s - begun, 1)
        row["clicks"] = desk.screen.clicks - before
        if desk.blender is not None:
            row["longest_wait_ms"] = round(1e3 * desk.ask("longest_wait_s"))
            if own := desk.ask("longest"):  # of that wait, what Sinew itself did; the rest is Blender's own redraws
                spent = {"ms": round(1e3 * own["seconds"]), "worked_ms": round(1e3 * own["worked_s"])}
                row["longest_of_sinew"] = {**spent, "in": own["what"]}
        print("%-16s %5.1f s  %d clicks" % (step.__name__, row["seconds"], row["clicks"]), flush=True)
        write(report, desk)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
