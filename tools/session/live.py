# SPDX-License-Identifier: GPL-3.0-or-later
"""A live session in a real Blender, by mouse and keyboard on a virtual screen, a picture of every step.

    python3 -m tools.session.live --blender blender --learned locomotion.library.npz

Sinew is enabled from these sources. ``SINEW_PYTHON`` names the Python of its worker. It needs what ``tools.session``
needs. Pictures and ``report.json`` go to out/session/live.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
import traceback
from collections.abc import Callable

from .console import complaints
from .window import WindowDesk

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_RECORDED_S = 5.0
_ARM, _TRUNK = "forearm.L", "chest"


class LiveDesk(WindowDesk):
    """A window with somebody live in it."""

    def live(self) -> dict:
        """How the session stands."""
        return self.ask("live_facts")

    def until(self, reached: Callable[[dict], object], what: str, seconds: float = 240.0) -> dict:
        """Wait until it stands like that."""
        stop = time.monotonic() + seconds
        while not reached(found := self.live()):
            if time.monotonic() > stop:
                self.check(False, "%s: %s" % (what, found))
            time.sleep(0.1)
        return found

    def over(self, bone: str) -> tuple[int, int]:
        """Put the mouse over a bone, which moves on meanwhile; gives where."""
        x, y = self.ask("bone_place", bone)
        self.screen.move(x, y)
        return x, y

    def key_at(self, name: str, bone: str = _TRUNK) -> None:
        """Press a key over a bone."""
        self.over(bone)
        self.screen.key(name)

    def shoot(self, name: str) -> None:
        """A picture at once: nothing stands still here."""
        self.taken += 1
        self.screen.shot(os.path.join(self.shots, "%02d_%s.png" % (self.taken, name)))


def start(desk: LiveDesk) -> None:
    """A mannequin walks; its Action is live by one click."""
    desk.ask("enable", ROOT)
    desk.open_tab()
    desk.wait(lambda found: found["simulates"], "it is known what is ready", 120.0)
    desk.ask("add_walk")
    desk.ask("put", "scene.sinew.methods.live", "quality", "draft")
    _start_live(desk)
    desk.shoot("live")


def _start_live(desk: LiveDesk) -> None:
    """Open the panel, if it is not, and press its button."""
    desk.open_tab()
    desk.look("ready")
    if not desk.kept.get("opened"):
        desk.fold("Live")
        desk.kept["opened"] = True
    desk.press("Start Live", "sinew.live")
    desk.until(lambda found: found["frame"] > 30, "somebody is live")


def drag(desk: LiveDesk) -> None:
    """Drag its arm up and aside."""
    x, y = desk.over(_ARM)
    desk.screen.hold(1)
    for step in range(10):
        desk.screen.move(x + 8 * step, y - 6 * step)
        time.sleep(0.1)
    found = desk.until(lambda found: found["pull_n"] > 5.0, "the arm is pulled", 10.0)
    desk.shoot("dragged")
    desk.screen.let_go(1)
    desk.until(lambda found: found["pull_n"] == 0.0, "it is let go", 10.0)
    desk.kept["pull_n"] = found["pull_n"]


def push_and_throw(desk: LiveDesk) -> None:
    """Push it, throw a ball at it, drop a box."""
    desk.key_at("f")
    time.sleep(0.4)
    desk.shoot("pushed")
    desk.key_at("b")
    desk.until(lambda found: "Live Ball 1" in found["things"], "a ball flies", 10.0)
    desk.shoot("thrown")
    desk.key_at("v")
    desk.until(lambda found: "Live Box 1" in found["things"], "a box falls", 10.0)
    time.sleep(0.6)
    desk.shoot("dropped")


def limp(desk: LiveDesk) -> None:
    """It goes limp, comes back, and begins anew."""
    desk.key_at("l")
    desk.until(lambda found: found["limp"], "it is limp", 10.0)
    desk.shoot("limp")
    desk.key_at("l")
    desk.until(lambda found: not found["limp"], "its strength is back", 10.0)
    desk.shoot("back")
    desk.key_at("r")
    time.sleep(0.5)
    desk.shoot("anew")


def record(desk: LiveDesk) -> None:
    """Five seconds are recorded, with a push in them."""
    desk.key_at("Return")
    begun = desk.until(lambda found: found["recording"], "it records", 10.0)["frame"]
    time.sleep(0.3 * _RECORDED_S)
    desk.key_at("f")
    desk.until(lambda found: found["frame"] >= begun + 60 * _RECORDED_S, "five seconds have passed", 60.0)
    desk.key_at("Return")
    desk.until(lambda found: found["recorded"], "there is a recording", 20.0)
    desk.shoot("recorded")


def bake(desk: LiveDesk) -> None:
    """The recording is baked, undone, redone, and made again: the same keys."""
    desk.press("Bake Recording", "sinew.live_bake")
    desk.wait(lambda found: len(found["takes"]) == 1, "the take is there", 300.0)
    desk.screen.key("Escape")
    desk.until(lambda found: not found["running"], "nobody is live any more", 20.0)
    desk.look("baked", at="Takes")
    desk.kept["first"] = desk.ask("take_digest", 0)
    desk.undo()
    desk.wait(lambda found: not found["takes"], "the take is undone", 30.0)
    desk.redo()
    desk.wait(lambda found: len(found["takes"]) == 1, "and redone", 30.0)
    desk.press("Make Again", "sinew.live_again")
    desk.wait(lambda found: len(found["takes"]) == 2, "it is made again", 300.0)
    desk.kept["second"] = desk.ask("take_digest", 1)
    desk.check(desk.kept["first"] == desk.kept["second"], "The same bits")
    desk.look("again", at="Takes")


def direct(desk: LiveDesk) -> None:
    """A directed character goes around two obstacles by the arrow keys, is recorded and baked."""
    desk.ask("add_course", desk.kept["learned"])
    _start_live(desk)
    desk.shoot("directed")
    desk.key_at("Return")
    for number, (held, seconds) in enumerate(
        ((("Up",), 2.0), (("Up", "Left"), 2.0), (("Up", "Right"), 3.0), (("Up",), 1.5)), start=1
    ):
        desk.over(_TRUNK)
        for key in held:
            desk.screen.press(key)
        time.sleep(seconds)
        desk.shoot("way_%d" % number)
        for key in held:
            desk.screen.release(key)
    desk.key_at("Return")
    desk.until(lambda found: found["recorded"], "there is a recording", 20.0)
    desk.press("Bake Recording", "sinew.live_bake")
    desk.wait(lambda found: len(found["takes"]) == 1, "the take is there", 400.0)
    desk.screen.key("Escape")
    desk.look("directed_take", at="Takes")


def main(argv: list[str]) -> int:
    """Do the session and say how it went."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.session.live", description=__doc__.splitlines()[0])
    parser.add_argument("--blender", default="blender --gpu-backend opengl", help="how Blender is started")
    parser.add_argument("--display", default=":78", help="the virtual screen's name (default :78)")
    parser.add_argument("--learned", default="", help="a trained library, or a graph, that is led; none without it")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "session", "live"), help="where it all goes")
    parser.add_argument("--only", choices=("take", "direct"), help="half of it")
    given = parser.parse_args(argv)
    desk = LiveDesk(shlex.split(given.blender), given.out, "", given.display)
    desk.kept["learned"] = os.path.abspath(given.learned) if given.learned else ""
    report: dict = {"steps": {}}
    steps = [start, drag, push_and_throw, limp, record, bake]
    if given.only == "direct":
        steps = []
    if given.learned and given.only != "take":
        steps.append(direct)
    good = False
    try:
        desk.start()
        report["blender"] = desk.facts()["blender"]
        if given.only == "direct":
            desk.ask("enable", ROOT)
            desk.open_tab()
            desk.wait(lambda found: found["simulates"], "it is known what is ready", 120.0)
        good = run(desk, report, steps)
        report["kept"] = desk.kept
    finally:
        desk.close()
        report["console"] = complaints(desk.log)
        with open(os.path.join(desk.work, "report.json"), "w", encoding="utf-8") as stream:
            json.dump(report, stream, indent=2)
    print(json.dumps(report, indent=2))
    return 0 if good and not report["console"] else 1


def run(desk: LiveDesk, report: dict, steps: list[Callable[[LiveDesk], None]]) -> bool:
    """The steps in turn; False where one failed, which is seen on the last picture."""
    for step in steps:
        begun, row = time.monotonic(), report["steps"].setdefault(step.__name__, {"what": str(step.__doc__)})
        try:
            step(desk)
        except Exception:  # noqa: BLE001 - whatever it is, it is told with a picture
            row["failed"] = traceback.format_exc()
            desk.shoot("failed")
            return False
        row["seconds"] = round(time.monotonic() - begun, 1)
        print("%-16s %5.1f s" % (step.__name__, row["seconds"]), flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
