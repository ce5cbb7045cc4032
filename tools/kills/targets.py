# SPDX-License-Identifier: GPL-3.0-or-later
"""What is killed: each target starts a process, goes on after any end of it, and knows what must have come of it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from sinew.core import jobs
from sinew.core.body.build import build_body
from sinew.core.body.foot_contacts import find_foot_contacts
from sinew.core.child_python import child_environment
from sinew.core.control.graph.transitions.motion_graph import MotionGraph, Skill, motion_graph_attachments
from sinew.core.control.tracking.library_building import PreparedClip
from sinew.core.control.tracking.library_files import StoredLibrary, store_library
from sinew.core.errors import JobError
from sinew.core.files import read_arrays
from sinew.core.jobs.events import EventReader
from sinew.core.motion.io.npz import save_clip
from sinew.core.motion.io.stock import load_stock
from sinew.core.motion.library import ClipOrigin
from sinew.core.motion.plain_walk import plain_walk

ROOT = Path(__file__).resolve().parents[2]
COMMAND_LINE = ROOT / "bridge" / "cli" / "__main__.py"
LITTLE_LEARNING = ROOT / "tests" / "core" / "jobs" / "little_learning.py"
LITTLE_POLICIES = ROOT / "tests" / "little_policies.py"
INSTALLER = ROOT / "bridge" / "setup" / "installing" / "run.py"

_WORKER = (
    "import runpy, sys; runpy.run_path({entry!r})['load_package'](); {before}; "
    "from sinew.core.jobs import worker; sys.exit(worker.main([sys.argv[1]]))"
)


class Broken(AssertionError):
    """What a kill has broken."""


def expect(true: Any, what: str) -> None:
    """Say what is broken unless it is true."""
    if not true:
        raise Broken(what)


class Target:
    """Something that runs in a process and can be killed. span_s: how long a run takes, about."""

    name = ""
    span_s = 1.0

    def begin(self, folder: Path) -> None:
        """Make everything ready for a first start, in a folder of its own."""
        self.folder = folder

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, or go on with it."""
        raise NotImplementedError

    def others(self) -> list[int]:
        """Processes that it may have started beside itself, which are killed with it now and then."""
        return []

    def look(self) -> None:
        """What must hold after a kill: nothing half written is read as whole."""

    def outcome(self) -> str:
        """What came of it, to the bit, once it has ended by itself; whatever is doubled or missing is told."""
        raise NotImplementedError

    def run(self, command: list[str], **environment: str) -> subprocess.Popen[bytes]:
        """A process in a session of its own."""
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=child_environment(environment),
            cwd=self.folder,
            start_new_session=True,
        )


class WorkerTarget(Target):
    """A job whose worker is killed."""

    name, span_s = "worker", 1.6
    before = "pass"

    def make(self, folder: Path) -> jobs.Job:
        """The job."""
        clip = plain_walk().frames(0, 40)
        return jobs.create(clip, method="passthrough", settings={"chunk_frames": 1, "pause_s": 0.01}, folder=folder)

    def begin(self, folder: Path) -> None:
        """A new job."""
        super().begin(folder)
        self.job = self.make(folder / "job")

    def start(self) -> subprocess.Popen[bytes]:
        """Its worker."""
        script = _WORKER.format(entry=str(ROOT / "core" / "entry.py"), before=self.before)
        return self.run([sys.executable, "-I", "-c", script, str(self.job.folder)])

    def look(self) -> None:
        """Not done, and no result that anybody would believe; or done, and whole."""
        job = jobs.open_job(self.job.folder)
        state = job.status().state
        if state == "done":
            job.result()
            return
        expect(state in ("created", "lost"), f"the job is {state} after a kill")
        try:
            job.result()
        except JobError:
            return
        raise Broken(f"a job that is {state} has a result")

    def outcome(self) -> str:
        """Take and products to the bit; one end, no torn line, no leftovers."""
        return job_outcome(self.job.folder)


class SimulateTarget(WorkerTarget):
    """Sampling control of a short walk."""

    name, span_s = "simulate", 5.0

    def make(self, folder: Path) -> jobs.Job:
        """The job."""
        clip = load_stock("walk").frames(0, 13)
        return jobs.create(
            clip, method="sampling", settings={"quality": "draft"}, engine="mujoco", seed=3, folder=folder
        )


class SkillsTarget(WorkerTarget):
    """Skills that are learned with hardly any effort."""

    name, span_s = "skills", 12.0
    before = f"runpy.run_path({str(LITTLE_LEARNING)!r})"

    def make(self, folder: Path) -> jobs.Job:
        """The job."""
        clip = load_stock("run")
        graph = MotionGraph((Skill("run", clip, "cycle", gait=True),))
        words: dict[str, Any] = {"settings": {"quality": "draft"}, "engine": "mujoco", "seed": 3, "folder": folder}
        return jobs.create(clip, method="graph_learn", attachments=motion_graph_attachments(graph), **words)


class BoundsTarget(WorkerTarget):
    """A controller that is trained for some thousand steps."""

    name, span_s = "bounds", 12.0

    def make(self, folder: Path) -> jobs.Job:
        """The job."""
        settings = {"millions": 0.02, "worlds": 32, "warm": False, "device": "cpu", "threads": 1, "seconds": 1.0}
        clip = load_stock("walk")
        return jobs.create(clip, method="bounds_train", settings=settings, engine="mujoco", seed=3, folder=folder)


class DirectTarget(WorkerTarget):
    """A policy that is trained for a library with hardly any effort, a checkpoint after every update."""

    name, span_s = "direct", 12.0
    before = (
        f"little = runpy.run_path({str(LITTLE_POLICIES)!r}); little['spare_effort'](); "
        "little['practice'].CHECKPOINT_S = 0.0"
    )

    def make(self, folder: Path) -> jobs.Job:
        """The job."""
        clip = plain_walk(4.0, 60.0)
        body = build_body(clip.skeleton, clip=clip)[0]
        contacts, times = find_foot_contacts(body, clip), np.arange(len(clip)) / clip.fps
        origin = ClipOrigin(clip.name, clip.name)
        kept = PreparedClip(clip.name, clip.local_pos, clip.local_quat_wxyz, contacts, times, clip.tags, origin)
        settings = {"millions": 0.002, "worlds": 8, "practised": 0.1, "threads": 1, "device": "cpu"}
        words: dict[str, Any] = {"settings": settings, "engine": "mujoco", "seed": 3, "folder": folder}
        library = store_library(StoredLibrary(body, (kept,)))
        return jobs.create(clip.frames(0, 1), method="direct_train", attachments={"direct_file": library}, **words)

    def look(self) -> None:
        """Not done, and no policy that anybody would believe; or done, and whole."""
        job = jobs.open_job(self.job.folder)
        state = job.status().state
        expect(state in ("created", "lost", "done"), f"the job is {state} after a kill")
        expect(job.has_result() == (state == "done"), f"a job that is {state} has a result, or has none")


class LibraryTarget(Target):
    """A library that is built of clips, by the command line."""

    name, span_s = "library", 4.0

    def begin(self, folder: Path) -> None:
        """Two clips."""
        super().begin(folder)
        (folder / "clips").mkdir()
        save_clip(folder / "clips" / "walk_one.npz", plain_walk(3.0, 60.0))
        save_clip(folder / "clips" / "walk_two.npz", plain_walk(4.0, 60.0).frames(30, 200))
        self.library = folder / "walks.library.npz"

    def start(self) -> subprocess.Popen[bytes]:
        """The same command, first and again."""
        command = [sys.executable, str(COMMAND_LINE), "library", "build", str(self.folder / "clips")]
        return self.run([*command, "--out", str(self.library)])

    def look(self) -> None:
        """The file is whole or not there."""
        if self.library.exists():
            read_arrays(self.library)

    def outcome(self) -> str:
        """All of the library to the bit."""
        return digest_of(self.library)


class BlenderTarget(Target):
    """A Blender that opens, simulates, bakes and saves, by the command line."""

    name, span_s = "blender", 5.0
    words: tuple[str, ...] = ("--method", "passthrough", "--set", "chunk_frames=1", "--set", "pause_s=0.02")

    def begin(self, folder: Path) -> None:
        """A clip to be opened."""
        super().begin(folder)
        save_clip(folder / "clip.npz", plain_walk().frames(0, 13))
        self.blend, self.jobs = folder / "out.blend", folder / "job"

    def start(self) -> subprocess.Popen[bytes]:
        """The same command, first and again."""
        command = [sys.executable, str(COMMAND_LINE), "simulate", str(self.folder / "clip.npz"), *self.words]
        return self.run([*command, "--out", str(self.blend), "--job-dir", str(self.jobs)])

    def folders(self) -> list[Path]:
        """The jobs there are."""
        return [self.jobs] if (self.jobs / "spec.json").is_file() else []

    def others(self) -> list[int]:
        """The workers that it has started."""
        found = []
        for folder in self.folders():
            events = EventReader(folder / "events.jsonl").poll()
            found += [event["pid"] for event in events if event["kind"] in ("launched", "started") and "pid" in event]
        return [pid for pid in set(found) if _is_worker(pid, self.folder)]

    def look(self) -> None:
        """The .blend is whole or not there: Blender's files begin so, packed or not, and are renamed when whole."""
        if self.blend.exists():
            expect(self.blend.stat().st_size > 1000, "a .blend was left half written")

    def outcome(self) -> str:
        """Of every job to the bit; there are as many as were asked for, and the .blend is saved."""
        expect(self.blend.is_file(), "the .blend is missing")
        left = [path.name for path in self.folder.rglob("*.part")]
        expect(not left, f"{left} were left")
        rows = self.takes()
        expect(len(rows) == len(self.folders()), f"{len(rows)} takes of {len(self.folders())} jobs are in the .blend")
        expect(len({row["job"] for row in rows}) == len(rows), "a take is in the .blend twice")
        return "|".join(job_outcome(folder) for folder in self.folders())

    def takes(self) -> list[dict[str, Any]]:
        """What the .blend says of its takes."""
        command = [sys.executable, str(COMMAND_LINE), "takes", str(self.blend), "--json"]
        done = subprocess.run(command, capture_output=True, check=False, env=child_environment(), timeout=120)
        expect(done.returncode == 0, f"the .blend cannot be opened: {done.stderr.decode(errors='replace')}")
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        return rows


class VariationsTarget(BlenderTarget):
    """Variations of a short walk, one job after the other."""

    name, span_s = "variations", 7.0
    words = ("--method", "passthrough", "--set", "chunk_frames=2", "--set", "pause_s=0.02", "--variations", "3")

    def folders(self) -> list[Path]:
        """The jobs of the batch."""
        return sorted(path.parent for path in self.jobs.glob("*/spec.json"))

    def outcome(self) -> str:
        """Of every job; none more, none less."""
        expect(len(self.folders()) == 3, f"there are {len(self.folders())} jobs of 3")
        return super().outcome()


class InstallerTarget(Target):
    """The process that installs packages, over one that is there already."""

    name, span_s = "installer", 3.5

    def begin(self, folder: Path) -> None:
        """Two small wheels, and the first of them installed."""
        super().begin(folder)
        self.root, self.shelf, self.pins = folder / "packages", folder / "shelf", folder / "pinned.txt"
        self.shelf.mkdir()
        lines = [_wheel(self.shelf, name) for name in ("sinew_one", "sinew_two")]
        self.pins.write_text("".join(lines), encoding="utf-8")
        process = self._start("sinew_one==1.0")
        expect(process.wait(120) == 0, "the first package cannot be installed")

    def _start(self, *names: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, str(INSTALLER), str(self.root), str(self.pins), *names]
        return self.run(command, SINEW_WHEELS=str(self.shelf))

    def start(self) -> subprocess.Popen[bytes]:
        """Install the second."""
        return self._start("sinew_two==1.0")

    def _site(self) -> Path:
        return self.root / "python{}.{}".format(*sys.version_info[:2]) / "site-packages"

    def look(self) -> None:
        """What was there stays, or is where the next one finds it."""
        places = [self._site(), *(path / "site-packages" for path in self.root.glob(".python*.old"))]
        expect(any((place / "sinew_one.py").is_file() for place in places), "what was installed is gone")

    def outcome(self) -> str:
        """Both packages, once each, and nothing else."""
        left = sorted(path.name for path in self.root.iterdir() if path.name not in ("lock", "install.log", "cancel"))
        names = sorted(path.name for path in self._site().iterdir() if path.suffix in (".py", ".dist-info"))
        return f"{left} {names}"


def _wheel(folder: Path, name: str) -> str:
    """Make a wheel of one module; gives its line of pins."""
    path, info = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "x = 1\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: kills\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/RECORD,,\n")
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _is_worker(pid: int, folder: Path) -> bool:
    """Whether the process is one that works in this folder: numbers of processes come again."""
    try:
        return str(folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def job_outcome(folder: Path) -> str:
    """A done job's take and products, to the bit; told is a second end, a torn line, or what was left half written."""
    job = jobs.open_job(folder)
    expect(job.status().state == "done", f"the job is {job.status().state}: {job.status().message}")
    left = [path.name for path in folder.rglob("*.part")]
    expect(not left, f"{left} were left")
    events = EventReader(job.events).poll()
    ends = [event["kind"] for event in events if event["kind"] in ("done", "failed", "cancelled")]
    expect(ends == ["done"], f"the job ended {ends}")
    expect(len(events) == len(job.events.read_bytes().splitlines()), "a torn line was left in the events")
    return digest_of(*sorted((folder / "result").glob("*.npz")))


def digest_of(*paths: Path) -> str:
    """Of all arrays of files, to the bit."""
    digest = hashlib.sha256()
    for path in paths:
        arrays, _ = read_arrays(path)
        for name in sorted(arrays):
            digest.update(f"{path.name} {name} {arrays[name].dtype} {arrays[name].shape}".encode())
            digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


TARGETS: dict[str, type[Target]] = {
    kind.name: kind
    for kind in (
        WorkerTarget,
        SimulateTarget,
        VariationsTarget,
        SkillsTarget,
        BoundsTarget,
        DirectTarget,
        LibraryTarget,
        BlenderTarget,
        InstallerTarget,
    )
}


def clear(folder: Path) -> Path:
    """An empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder
