# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip to send through jobs, workers with a fault built in, and small disks."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sinew.core import jobs
from sinew.core.child_python import child_environment
from sinew.core.motion import Clip, Skeleton, Tag

_WORKER = """
import os, runpy, signal, sys, time
runpy.run_path({entry!r})["load_package"]()
from sinew.core.jobs import checkpoints, events, job, lock, running, worker
from sinew.core.control.passthrough import Passthrough

def die():
    os.kill(os.getpid(), signal.SIGKILL)

{fault}
sys.exit(worker.main([{folder!r}]))
"""


@pytest.fixture(scope="session")
def clip() -> Clip:
    """Forty frames of three bones that jump about."""
    rng = np.random.default_rng(7)
    rest = np.tile([1.0, 0, 0, 0], (3, 1))
    skeleton = Skeleton(("hips", "spine", "hand"), [-1, 0, 1], np.eye(3), rest, [0.1, 0.5, 0.2])
    pos, quat = rng.normal(size=(40, 3, 3)), rng.choice([-0.5, 0.5], size=(40, 3, 4))
    return Clip(skeleton, 30.0, pos, quat, "Gehen schräg", (Tag("walk", 0, 30),))


@pytest.fixture(scope="session")
def same():
    """Asserts that two clips are equal, bit for bit."""

    def check(a: Clip, b: Clip) -> None:
        assert a.skeleton.names == b.skeleton.names
        assert (a.fps, a.name, a.tags) == (b.fps, b.name, b.tags)
        for name in ("parents", "rest_pos", "rest_quat_wxyz", "lengths"):
            assert getattr(a.skeleton, name).tobytes() == getattr(b.skeleton, name).tobytes(), name
        assert a.local_pos.tobytes() == b.local_pos.tobytes()
        assert a.local_quat_wxyz.tobytes() == b.local_quat_wxyz.tobytes()

    return check


@pytest.fixture
def make(clip):
    """Makes a passthrough job of the clip; settings as keywords."""

    def create(folder: Path | None = None, **settings) -> jobs.Job:
        return jobs.create(clip, method="passthrough", settings=settings, folder=folder)

    return create


@pytest.fixture
def run_worker(root):
    """Runs a worker by hand, with lines of Python put in before it starts; gives the finished process."""

    def run(job: jobs.Job, fault: str = "") -> "subprocess.CompletedProcess[str]":
        script = _WORKER.format(entry=str(root / "core" / "entry.py"), fault=fault, folder=str(job.folder))
        command = [sys.executable, "-c", script]
        kept = child_environment()  # as it is launched: other threads sum up in another order
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=kept)

    return run


@pytest.fixture
def mount(tmp_path):
    """Mounts a small disk of its own and gives its folder, where this user may; else the test is skipped."""
    folders = []

    def mounted(options: str) -> Path:
        folder = tmp_path / f"disk-{len(folders)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(command, check=False).returncode != 0:
            pytest.skip("needs the right to mount a small disk")
        folders.append(folder)
        return folder

    yield mounted
    for folder in folders:
        subprocess.run(["umount", "-l", str(folder)], check=True)
