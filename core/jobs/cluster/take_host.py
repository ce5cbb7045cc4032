# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's side of whole jobs: a folder like any job's, and Sinew's own worker at it, one job after the other.

A take may take no longer than its worker takes to start, so a worker does all jobs of one method that come one after
the other. One that did not end well is not used again.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ...child_python import start_python
from ...cores import CORES
from ...files import write_whole
from ...paths import find_in_folder
from ..events import TERMINAL, EventReader
from ..job import Job
from .node import make_scratch

_ENTRY = Path(__file__).resolve().parents[2] / "entry.py"
SENT = ("spec.json", "inputs", "checkpoints")
"""What a node gets of a job's folder."""
_CODE = "worker.code"  # a job's file with the worker's exit code
# A worker that is told jobs' folders a line at a time. Whatever becomes of the process that started it, the worker goes
# with it: a node's end closes the pipe.
_WORKER = """
import importlib, os, queue, runpy, sys, threading
folders = queue.Queue()
def listen():
    for line in sys.stdin:
        folders.put(line.rstrip("\\n"))
    os._exit(9)
threading.Thread(target=listen, daemon=True).start()
runpy.run_path(sys.argv[1])["load_package"]()
worker = importlib.import_module("sinew.core.jobs.worker")
while True:
    folder = folders.get()
    with open(os.path.join(folder, "worker.log"), "ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    code = worker.main([folder])
    with open(os.path.join(folder, sys.argv[2] + ".part"), "w") as file:
        file.write(str(code))
    os.replace(file.name, file.name.removesuffix(".part"))
"""
_LOOK_S, _STEP_S, _TIDY_S = 0.3, 0.03, 2.0


class TakeHost:
    """Works at a job in a folder of this node. cores: how many it may keep busy."""

    _process: "subprocess.Popen[bytes] | None"

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._home = Path(make_scratch())
        self._count = 0
        self._process = None
        self._job: Job | None = None
        self._method = ""

    def begin(self, files: dict[str, bytes]) -> None:
        """Write a job's folder, and let a worker do it."""
        is_well = self._let_go()
        self._count += 1
        job = self._job = Job(self._home / str(self._count))
        for name, data in files.items():
            path = job.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        self._reader = EventReader(job.events)
        self._sent: dict[str, int] = {name: 0 for name in files if name.startswith("checkpoints")}
        process, method = self._process, job.spec.method
        if process is None or process.poll() is not None or not is_well or method != self._method:
            self._end_worker()
            process = self._process = self._start_worker(job)
        self._method = method
        assert process.stdin is not None
        process.stdin.write(f"{job.folder}\n".encode())
        process.stdin.flush()

    def _start_worker(self, job: Job) -> "subprocess.Popen[bytes]":
        with open(job.log, "ab") as log:
            return start_python(
                sys.executable,
                ["-c", _WORKER, str(_ENTRY), _CODE],
                variables={CORES: str(self._cores)},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def look(self) -> dict[str, Any]:
        """What is new after a moment, or as soon as the job is over.

        events; files: (name -> content) of checkpoints and what is shown; code: how the worker ended, None before.
        """
        job, until = self._require_job(), time.monotonic() + _LOOK_S
        events: list[Any] = []
        while True:
            code = self._read_code()
            events += self._reader.poll()
            if code is not None or any(one["kind"] in TERMINAL for one in events) or time.monotonic() > until:
                break
            time.sleep(_STEP_S)
        files = {}
        for path in (*find_in_folder(job.checkpoints, ".npz"), job.shown_file):
            if path.name.startswith("."):
                continue
            name = path.relative_to(job.folder).as_posix()
            try:
                changed = path.stat().st_mtime_ns
                if name not in self._sent or self._sent[name] not in (0, changed):
                    files[name] = path.read_bytes()
            except OSError:  # gone meanwhile: only the newest checkpoints are kept
                continue
            self._sent[name] = changed
        return {"events": events, "files": files, "code": code}

    def _read_code(self) -> int | None:
        """The exit code of the worker; None while it is at the job."""
        process, file = self._process, self._require_job().folder / _CODE
        ended = None if process is None else process.poll()
        try:
            return int(file.read_text("ascii"))
        except OSError:
            return ended

    def results(self) -> dict[str, bytes]:
        """The files of the result: name -> content."""
        found = find_in_folder(self._require_job().take_file.parent)
        return {path.name: path.read_bytes() for path in found if not path.name.startswith(".")}

    def log(self) -> str:
        """The end of what the worker said."""
        return self._require_job().log.read_bytes()[-4000:].decode("utf-8", "replace")

    def request(self, name: str, there: bool) -> None:
        """Leave the file that asks the worker for something, or take it away."""
        job = self._require_job()
        path = {"cancel": job.cancel_file, "pause": job.pause_file, "finish": job.finish_file}[name]
        if there:
            job.touch(path)
        else:
            path.unlink(missing_ok=True)

    def _require_job(self) -> Job:
        assert self._job is not None
        return self._job

    def _let_go(self) -> bool:
        """Let go of the job and end a worker that is still at it; gives whether it is fit for another one."""
        if self._job is None:
            return True
        until = time.monotonic() + _TIDY_S
        while (code := self._read_code()) is None and time.monotonic() < until:
            time.sleep(_STEP_S)  # its last event is there already
        if code is None:
            self._end_worker()
        shutil.rmtree(self._job.folder, ignore_errors=True)
        self._job = None
        return code == 0

    def _end_worker(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()


def read_job_files(job: Job) -> dict[str, bytes]:
    """What a node needs of a job's folder: path in it -> content."""
    paths = [job.folder / "spec.json", *(job.inputs / name for name in job.spec.inputs)]
    newest = sorted(path for path in find_in_folder(job.checkpoints, ".npz") if not path.name.startswith("."))[-1:]
    return {path.relative_to(job.folder).as_posix(): path.read_bytes() for path in (*paths, *newest)}
