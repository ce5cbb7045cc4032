# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting a job's worker, or starting it again, and waiting for it."""

import contextlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from ..child_python import find_program, run_python
from ..errors import JobError
from . import processes
from .events import append_event, cut_torn_tail
from .job import Job, JobStatus
from .lock import hold_lock
from .where import HERE, Where

_ENTRY = Path(__file__).resolve().parent.parent / "entry.py"

_FIX = "Choose a Python of version 3.11 or newer that has numpy in Sinew's preferences, or set SINEW_PYTHON to it"
_QUESTION = "import sys, numpy; print('.'.join(map(str, sys.version_info[:2])))"

# Pythons that have proved to work as a worker: (path, time of change). Asking takes a fraction of a second.
_proved: set[tuple[str, float]] = set()


def launch(job: Job, python: str | None = None, where: Where = HERE) -> "subprocess.Popen[bytes]":
    """Start the job's worker in a process of its own; a lost, cancelled or failed job goes on from its checkpoint.

    python: the worker's Python; None for ``SINEW_PYTHON``, else this process's own. where: the worker is always
    here; on a cluster it has the work done there.
    """
    return launch_together([job], python, where)


def launch_together(jobs: Sequence[Job], python: str | None, where: Where) -> "subprocess.Popen[bytes]":
    """Start one worker for several jobs, which only a cluster does; or none of them."""
    if len(jobs) != 1 and (where.is_here or not jobs):
        raise ValueError("a worker here does one job")
    path = find_worker_python(python)
    with ExitStack() as locks:
        for job in jobs:
            _take_for_launch(job, locks)
        words = [] if where.is_here else [f"--where={where}"]
        words += [os.path.abspath(job.folder) for job in jobs]
        process = processes.start_worker(path, [str(_ENTRY), *words], [job.folder for job in jobs], jobs[0].log)
        try:
            about = {"pid": process.pid, "host": platform.node(), "python": path, "where": str(where)}
            for job in jobs:
                append_event(job.events, "launched", job.history.next_run, mode=job.mode, **about)
        except BaseException:
            process.kill()
            raise
    return process


def _take_for_launch(job: Job, locks: ExitStack) -> None:
    # Under the lock nothing else can start, write events or look free: two launches never both succeed.
    job.require_own_folders()
    held = locks.enter_context(hold_lock(job.lock, mode=job.mode))
    if not held or _is_starting(job):
        raise JobError(f"Job '{job.spec.title}' is running already", "Cancel it first, or wait until it is done")
    if job.has_result():
        raise JobError(f"Job '{job.spec.title}' is done already", "Collect its result, or make a new job")
    job.forget_requests()
    cut_torn_tail(job.events)


def _is_starting(job: Job) -> bool:
    """Whether a worker is on its way to the lock that we hold."""
    history = job.history
    history.refresh()
    return not history.started and not history.end and processes.is_starting(job.folder, history.launched)


def wait(
    job: Job,
    process: "subprocess.Popen[bytes] | None" = None,
    on_status: Callable[[JobStatus], None] | None = None,
    poll_s: float = 0.1,
) -> JobStatus:
    """Block until no worker is at the job; gives its last status. ``on_status`` hears of every look at it."""
    while True:
        status = job.status()
        if on_status is not None:
            on_status(status)
        if not status.alive:
            break
        time.sleep(poll_s)
    if process is not None:
        # Its last words are written; what is left is Python's own tidying.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10.0)
    return status


def find_worker_python(python: str | None = None) -> str:
    """The full path of a Python that can be the worker, tried out; a ``JobError`` names one that cannot."""
    wanted = os.path.expanduser(python or os.environ.get("SINEW_PYTHON") or sys.executable)
    path = find_program(wanted)
    if path is None:
        problem = "is not a program that can be run" if wanted and os.path.exists(wanted) else "does not exist"
        raise JobError(f"The worker's Python '{wanted}' {problem}", _FIX)
    proof = (path, os.path.getmtime(path))
    if proof not in _proved:
        _try_out(path)
        _proved.add(proof)
    return path


def _try_out(path: str) -> None:
    try:
        answer = run_python(path, ["-c", _QUESTION], timeout_s=60.0)
    except subprocess.TimeoutExpired as error:
        raise JobError(f"The worker's Python '{path}' did not answer for a minute", _FIX) from error
    except OSError as error:
        raise JobError(f"The worker's Python '{path}' cannot be run: {error.strerror}", _FIX) from error
    complaint = answer.stderr.decode(errors="replace").strip()
    if answer.returncode != 0:
        if "No module named 'numpy'" in complaint:
            raise JobError(f"The worker's Python '{path}' has no numpy", f"Run: {path} -m pip install numpy")
        last = complaint.splitlines()[-1] if complaint else f"exit code {answer.returncode}"
        raise JobError(f"The worker's Python '{path}' does not work: {last}", _FIX)
    version = answer.stdout.decode(errors="replace").strip()
    numbers = version.split(".")
    if not all(number.isdigit() for number in numbers) or tuple(map(int, numbers)) < (3, 11):
        raise JobError(f"'{path}' is not a Python of version 3.11 or newer: it says '{version[:40]}'", _FIX)
