# SPDX-License-Identifier: GPL-3.0-or-later
"""A live session in a real Blender, by mouse and keyboard on a virtual screen, a picture of every step.

    python3 -m tools.session.live --blender blender --learned locomotion.library.npz
    python3 -m tools.session.live --blender blender --only figures

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
from .desk import Wrong
from .driving import Driver
from .window import WindowDesk

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_RECORDED_S, _MEASURED_S, _DRAGS = 5.0, 30.0, 3
_NOTICED_S = 0.3  # until Blender has noticed where the mouse is, also on a busy machine
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
        time.sleep(_NOTICED_S)
        self.screen.key(name)

    def check_closed(self, is_so: object, what: str) -> None:
        """Stop the session unless it is so, where there is no Blender any more that could be asked."""
        if not is_so:
            raise Wrong(what)

    def shoot(self, name: str) -> None:
        """A picture at once: nothing stands still here."""
        self.taken += 1
        self.screen.shot(os.path.join(self.shots, "%02d_%s.png" % (self.taken, name)))


def start(desk: LiveDesk) -> None:
    """A mannequin walks; its Action is live by one click."""
    desk.ask("add_walk")
    desk.ask("put", "scene.sinew.methods.live", "quality", "draft")
    _start_live(desk)
    desk.kept["height_m"] = desk.live()["root"][2]
    desk.shoot("live")


def _enable(desk: LiveDesk) -> None:
    desk.ask("enable", ROOT)
    desk.open_tab()
    desk.wait(lambda found: found["simulates"], "it is known what is ready", 120.0)


def _start_live(desk: LiveDesk, key: str = "") -> None:
    """Open the panel, if it is not, and press its button; or a key over the view."""
    desk.open_tab()
    desk.look("ready")
    if not desk.kept.get("opened"):
        desk.fold("Live")
        desk.kept["opened"] = True
    if key:
        desk.rest()
        time.sleep(1.0)
        desk.screen.key(key)
        desk.until(lambda found: found["running"] or found["expected"], "the key has started it", 15.0)
    else:
        desk.press("Start Live", "sinew.live")
    desk.until(lambda found: found["frame"] > 30, "somebody is live")


def drag(desk: LiveDesk) -> None:
    """Drag its arm up and aside, several times: none of them may miss it."""
    for number in range(_DRAGS):
        x, y = desk.over(_ARM)
        time.sleep(_NOTICED_S)
        desk.screen.hold(1)
        for step in range(10):
            desk.screen.move(x + 8 * step, y - 6 * step)
            time.sleep(0.1)
        found = desk.until(lambda found: found["pull_n"] > 5.0, "the arm is pulled (%d)" % number, 5.0)
        if not number:
            desk.shoot("dragged")
        desk.screen.let_go(1)
        desk.until(lambda found: found["pull_n"] == 0.0, "it is let go", 10.0)
        desk.kept.setdefault("pulls_n", []).append(found["pull_n"])
        time.sleep(1.0)


def push_and_throw(desk: LiveDesk) -> None:
    """Push it by a click and by a key, throw a ball at it, drop a box."""
    desk.over(_TRUNK)
    time.sleep(_NOTICED_S)
    desk.screen.hold(1)
    desk.screen.let_go(1)
    time.sleep(0.6)
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
    """It goes limp, its strength comes back, and it gets up; then all begins anew."""
    if not desk.live()["limp"]:  # what was thrown at it may have felled it already
        desk.key_at("l")
    desk.until(lambda found: found["limp"], "it is limp", 10.0)
    time.sleep(1.5)
    desk.shoot("limp")
    desk.key_at("l")
    desk.until(lambda found: not found["limp"], "its strength is back", 10.0)
    time.sleep(2.0)
    desk.shoot("rising")
    enough = 0.85 * desk.kept["height_m"]
    desk.until(lambda found: found["root"][2] > enough, "it is up again", 40.0)
    time.sleep(2.0)
    desk.check(desk.live()["root"][2] > enough, "It stays up")
    desk.shoot("back")
    desk.key_at("r")
    time.sleep(0.5)
    desk.shoot("anew")


def slow_and_back(desk: LiveDesk) -> None:
    """Time goes slower, and faster again; two seconds back, one forth, and on from there."""
    for _ in range(2):
        desk.key_at("minus")
    desk.until(lambda found: found["speed"] == 0.25, "time goes slower", 10.0)
    desk.shoot("slower")
    for _ in range(3):
        desk.key_at("plus")
    desk.until(lambda found: found["speed"] == 0.0, "it goes as fast as it can", 10.0)
    desk.key_at("minus")
    desk.until(lambda found: found["speed"] == 1.0 and found["frame"] > 200, "real time again")
    desk.key_at("j")
    begun = desk.until(lambda found: found["paused"], "it waits", 10.0)["frame"]
    time.sleep(1.0)
    begun = desk.live()["frame"]
    desk.key_at("j")
    back = desk.until(lambda found: found["frame"] < begun - 50, "it is another second back", 10.0)["frame"]
    desk.key_at("shift+j")
    forth = desk.until(lambda found: found["frame"] > back + 50, "it is a second further", 10.0)["frame"]
    desk.shoot("scrubbed")
    desk.key_at("space")
    desk.until(lambda found: forth < found["frame"] < begun + 600, "it goes on from there", 10.0)


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
    drive = Driver(desk, desk.ask("course"))
    way = drive.go()
    desk.kept["way"] = way
    desk.key_at("Return")
    desk.until(lambda found: found["recorded"], "there is a recording", 20.0)
    desk.shoot("driven")
    desk.press("Bake Recording", "sinew.live_bake")
    desk.wait(lambda found: len(found["takes"]) == 1, "the take is there", 400.0)
    desk.rest()
    desk.screen.key("Escape")
    desk.until(lambda found: not found["running"], "nobody is live any more", 20.0)
    desk.look("directed_take", at="Takes")


def stream(desk: LiveDesk) -> None:
    """What a simulation of ten seconds has found is seen before it is done, with the overlay off."""
    desk.ask("add_long_walk", 10.0)
    desk.open_tab()
    desk.press("Simulate Selected Action", "sinew.simulate")
    clicked_s, seen_s = desk.screen.clicked_s, 0.0
    while not seen_s and time.monotonic() < clicked_s + 60.0:
        seen_s = desk.ask("first_seen_s")
        time.sleep(0.05)
    desk.check(seen_s, "It is seen")
    desk.kept["click_to_first_pose_s"] = seen_s - clicked_s
    desk.shoot("streamed")
    time.sleep(2.0)
    desk.shoot("streamed_more")
    desk.check(desk.facts()["takes"] == [], "The take is not done yet")
    desk.wait(lambda found: len(found["takes"]) == 1, "the take is there", 300.0)


def figures(desk: LiveDesk) -> None:
    """What a character of sixty bones costs while it is live and pushed now and then."""
    desk.ask("add_walk", 60)
    desk.ask("put", "scene.sinew.methods.live", "quality", "draft")
    _start_live(desk)
    desk.ask("begin_figures")
    begun, frame = time.monotonic(), desk.live()["frame"]
    while time.monotonic() < begun + _MEASURED_S:
        desk.key_at("f")
        time.sleep(1.0)
        if desk.live()["limp"]:
            desk.key_at("r")
    seconds, frames = time.monotonic() - begun, desk.live()["frame"] - frame
    found = desk.ask("end_figures")
    desk.kept["figures"] = {**found, "seconds": seconds, "frames_a_second": frames / seconds}
    desk.rest()
    desk.screen.key("Escape")
    desk.until(lambda found: not found["running"], "nobody is live any more", 20.0)


def kill(desk: LiveDesk) -> None:
    """Blender is killed while somebody is live: the worker ends with it."""
    desk.ask("add_walk")
    desk.ask("put", "scene.sinew.methods.live", "quality", "draft")
    _start_live(desk)
    worker = desk.live()["worker"]
    desk.blender.process.kill()
    stop = time.monotonic() + 30.0
    while is_running(worker) and time.monotonic() < stop:
        time.sleep(0.1)
    desk.kept["orphan"] = is_running(worker)
    desk.check_closed(not desk.kept["orphan"], "The worker ended with Blender")


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def by_key(desk: LiveDesk) -> None:
    """One key starts it and stops it."""
    desk.ask("add_walk")
    desk.ask("put", "scene.sinew.methods.live", "quality", "draft")
    _start_live(desk, "F6")
    desk.rest()
    desk.screen.key("F6")
    desk.until(lambda found: not found["running"] and not found["expected"], "the key has stopped it", 20.0)


PARTS = {
    "take": (start, drag, push_and_throw, limp, slow_and_back, record, bake),
    "direct": (direct,),
    "stream": (stream,),
    "figures": (figures,),
    "key": (by_key,),
    "kill": (kill,),
}


def main(argv: list[str]) -> int:
    """Do the session and say how it went."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.session.live", description=__doc__.splitlines()[0])
    parser.add_argument("--blender", default="blender --gpu-backend opengl", help="how Blender is started")
    parser.add_argument("--display", default=":78", help="the virtual screen's name (default :78)")
    parser.add_argument("--learned", default="", help="a trained library, or a graph, that is led; none without it")
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "session", "live"), help="where it all goes")
    parser.add_argument("--only", choices=tuple(PARTS), nargs="+", help="parts of it")
    given = parser.parse_args(argv)
    desk = LiveDesk(shlex.split(given.blender), given.out, "", given.display)
    desk.kept["learned"] = os.path.abspath(given.learned) if given.learned else ""
    report: dict = {"steps": {}}
    parts = given.only or [name for name in PARTS if name != "direct" or given.learned]
    steps = [step for part in parts for step in PARTS[part]]
    good = False
    try:
        desk.start()
        report["blender"] = desk.facts()["blender"]
        _enable(desk)
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
