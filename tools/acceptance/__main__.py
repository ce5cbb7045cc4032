# SPDX-License-Identifier: GPL-3.0-or-later
"""Every feature in an installed extension, with only what its zip brings.

    python tools/acceptance dist/sinew-0.1.0-linux_x64.zip --blender "blender" [--python PYTHON --wheels FOLDER]

installs the zip into an empty user folder and then, in one Blender after the other, looks at what is ready, simulates,
simulates on a stage with an arch, which no convex hull may close, fits the body to the mesh, makes variations, learns
skills and plays them, makes a library of motion and directs it, installs PyTorch by the tab's own installer, trains
within bounds, and trains and tests the library. What each step made is looked at. All of them work in a folder full of
modules that are called as those which a Python looks for (tests/trapped_folder.py), beside the .blend, and none may be
imported.

--python is the Python that PyTorch is installed for, Blender's own if not given; --wheels is a folder with wheels for
it, for machines without the network (SINEW_WHEELS). Results, logs and reports are in out/acceptance.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from trapped_folder import TrappedFolder  # noqa: E402 - run as a script, it has to find its neighbour first

INSIDE = Path(__file__).resolve().with_name("inside.py")
# Little of everything: what is learned need not be good, only whole.
HASTY = ("--set", "quality=draft")
LITTLE = ("--set", "warm=0", "--set", "millions=0.001", "--set", "worlds=16", "--set", "seconds=1")


class Unaccepted(Exception):
    """What a step made is not what it should have made."""


class Acceptance:
    """One installed Blender with empty user folders of its own, and what every step found."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.work = ROOT / "out" / "acceptance"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.trap = TrappedFolder(self.work / "shot")
        self.seconds: dict[str, float] = {}

    def seen(self, path: Path) -> str:
        """The path as that Blender sees it."""
        return str(Path(self.given.seen_as) / Path(path).resolve().relative_to(ROOT))

    def variables(self, **more: str) -> dict[str, str]:
        """A user's environment with nothing of ours, but for the folders."""
        astray = ("SINEW_", "PYTHON", "PIP_", "OPENBLAS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(astray)}
        kept["BLENDER_USER_RESOURCES"] = self.seen(self.work / "user")
        kept["XDG_DATA_HOME"] = self.seen(self.work / "data")
        kept["XDG_CACHE_HOME"] = self.seen(self.work / "cache")
        return kept | more

    def blender(self, name: str, *words: str, meanwhile: Callable[[], None] = lambda: None, **more: str) -> None:
        """Run Blender in the trapped folder until it ends, into a log."""
        # A shell inside, because a Blender behind another command may begin in another folder.
        line = f"cd {shlex.quote(self.seen(self.trap.folder))} && exec {self.given.program} -b {shlex.join(words)}"
        exports = [f"{key}={value}" for key, value in self.variables(**more).items() if key.isidentifier()]
        own = [one for one in exports if one.startswith(("BLENDER_", "XDG_", "SINEW_"))]
        command = [*shlex.split(self.given.shell), "env", "-u", "PYTHONDONTWRITEBYTECODE", *own, "sh", "-c", line]
        began = time.monotonic()
        with open(self.work / f"{name}.log", "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT, env=self.variables())
            while process.poll() is None:
                meanwhile()
                time.sleep(0.2)
        self.seconds[name] = round(time.monotonic() - began, 1)
        if process.returncode != 0:
            tail = (self.work / f"{name}.log").read_text("utf-8", "replace").splitlines()[-12:]
            raise Unaccepted("\n".join([f"{name}: exit code {process.returncode}", *tail]))

    def inside(self, name: str, **more: str) -> dict[str, Any]:
        """Do a step of inside.py in Blender; what it says of it."""
        words = ("--online-mode", "--python-exit-code", "1", "--python", self.seen(INSIDE), "--", name)
        self.blender(name, *words, self.seen(self.work), *more.pop("words", "").split(), **more)
        return json.loads((self.work / f"{name}.json").read_text("utf-8"))

    def sinew(
        self, name: str, *words: str, meanwhile: Callable[[], None] = lambda: None, **more: str
    ) -> dict[str, Any]:
        """Run a verb of the command line in the stage's scene, or in an empty one to direct a library; its report."""
        report = self.work / f"{name}.json"
        scene = () if words[0] == "direct" else (self.seen(self.trap.folder / "stage.blend"),)
        self.blender(name, *scene, "-c", "sinew", *words, "--report", self.seen(report), meanwhile=meanwhile, **more)
        return json.loads(report.read_text("utf-8"))


def require(fact: object, text: str) -> None:
    """Stop unless it is so."""
    if not fact:
        raise Unaccepted(text)


def install(run: Acceptance) -> None:
    """As Blender's own command line installs a zip."""
    words = ("extension", "install-file", "-r", "user_default", "-e", run.seen(Path(run.given.zip)))
    run.blender("install", "--command", *words)


def first_minutes(run: Acceptance) -> None:
    """The zip alone simulates, and Blender's process brings nothing heavy."""
    said = run.inside("first")
    require(said["engine"] and not said["problem"], f"nothing simulates: {said}")
    require(said["state"] == "done" and not any(said["fell"]), f"the mannequin did not walk: {said}")
    require(not said["heavy"], f"Blender imported {said['heavy']}")
    run.inside("stage")


def stage(run: Acceptance) -> None:
    """The walker goes through an arch, with a body fitted to its mesh."""
    out = run.seen(run.work / "through.blend")
    report = run.sinew("simulate", "simulate", *HASTY, "--out", out)
    kinds = [finding["kind"] for finding in report["findings"]]
    require(not {"mesh_hull", "mesh_filled"} & set(kinds), f"the arch was closed: {report['findings']}")
    require(report["status"] == "done" and not report["fell"], f"the walker fell: {report['findings']}")
    built = json.loads((run.work / "stage.json").read_text("utf-8"))
    require(built["fitted_kg"] != built["plain_kg"], f"no body was fitted to the mesh: {built}")
    require(abs(report["body"]["mass"] - built["fitted_kg"]) < 0.5, f"the walker had another body: {built}")
    said = run.inside("walked", words=out)
    require(said["travelled_m"] > 0.8 * said["source_m"], f"the arch was in the way: {said}")


def variations(run: Acceptance) -> None:
    """Two takes to choose from."""
    out = run.seen(run.work / "variations.blend")
    run.sinew("variations", "simulate", *HASTY, "--variations", "2", "--out", out)
    said = run.inside("counted", words=out)
    require(said["takes"] >= 2, f"there are not two takes: {said}")


def skills(run: Acceptance) -> None:
    """A skill is learned until the user has enough, and played."""
    job, graph = run.work / "skill-job", run.work / "walk.npz"
    action = json.loads((run.work / "stage.json").read_text("utf-8"))["action"]

    def enough() -> None:
        if any((job / "checkpoints").glob("*.npz")):
            (job / "finish").touch()

    words = ("graph", "learn", "--action", action, *HASTY, "--job-dir", run.seen(job), "--out", run.seen(graph))
    run.sinew("skills", *words, meanwhile=enough)
    out = run.seen(run.work / "played.blend")
    run.sinew("played", "graph", "bake", run.seen(graph), "--seconds", "2", "--out", out)


def direct(run: Acceptance) -> None:
    """A library is made of clips, and goes where it is told, with a body."""
    clips = run.trap.folder / "clips"
    clips.mkdir()
    run.inside("clips", words=run.seen(clips))
    library = run.seen(run.work / "walks.library.npz")
    run.blender("library", "-c", "sinew", "library", "build", run.seen(clips), "--out", library)
    words = ("--points", "0,0", "2,0", "--speed", "1", "--seconds", "2", "--set", "quality=draft")
    report = run.sinew("directed", "direct", "bake", library, *words, "--out", run.seen(run.work / "directed.blend"))
    require(report["status"] == "done" and not report["fell"], f"who was directed fell: {report['findings']}")


def bounds(run: Acceptance) -> None:
    """PyTorch comes by the tab's own installer; then a motion is learned within bounds and baked."""
    more = {"SINEW_PYTHON": run.given.python} if run.given.python else {}
    sources = {"SINEW_WHEELS": run.seen(Path(run.given.wheels))} if run.given.wheels else {}
    said = run.inside("torch", **more, **sources)
    require(said["learner"], f"PyTorch was not installed: {said}")
    learned = run.seen(run.work / "walk.safetensors")
    run.sinew("bounds", "bounds", "train", *LITTLE, "--out", learned, **more)
    out = run.seen(run.work / "bounded.blend")
    run.sinew("bounded", "bounds", "bake", learned, "--seconds", "1", "--out", out, **more)


def policy(run: Acceptance) -> None:
    """The library is trained a little, and tested. PyTorch and the library are there from the steps before."""
    more = {"SINEW_PYTHON": run.given.python} if run.given.python else {}
    library, trained = (run.seen(run.work / f"{name}.library.npz") for name in ("walks", "trained"))
    few = ("--set", "worlds=16", "--set", "practised=0.2", "--set", "millions=0.002")
    run.sinew("policy", "direct", "train", library, "--out", trained, *few, **more)
    report = run.sinew("tested", "direct", "test", trained, "--minutes", "0.2", **more)
    require({"falls", "minutes", "joint_error_m"} <= set(report), f"nothing was measured: {sorted(report)}")


STEPS: tuple[Callable[[Acceptance], None], ...] = (
    install,
    first_minutes,
    stage,
    variations,
    skills,
    direct,
    bounds,
    policy,
)


def main(argv: list[str]) -> int:
    """Take the steps, and print what came of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("zip", help="an extension's zip with wheels for that Blender")
    parser.add_argument("--blender", dest="program", default="blender", help="the Blender (default: blender)")
    parser.add_argument(
        "--shell", default="", help="what runs a command where that Blender is, such as 'blender-window sh'"
    )
    parser.add_argument("--seen-as", default=str(ROOT), help="where that Blender sees this folder")
    parser.add_argument("--python", default="", help="the Python to install PyTorch for (default: Blender's own)")
    parser.add_argument("--wheels", default="", help="a folder of wheels below this one, instead of the network")
    parser.add_argument("--only", action="append", choices=[step.__name__ for step in STEPS], help="after install")
    run = Acceptance(parser.parse_args(argv))
    failed = 0
    for step in STEPS:
        if run.given.only and step.__name__ not in ("install", "first_minutes", *run.given.only):
            continue
        try:
            step(run)
            require(not run.trap.sprung, f"code from the working folder was imported: {run.trap.sprung}")
            print("%-14s ok      %s" % (step.__name__, run.seconds), flush=True)
        except Unaccepted as error:
            failed = 1
            print("%-14s FAILED  %s" % (step.__name__, error), flush=True)
        run.seconds = {}
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
