# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's side of whole jobs: a folder like any job's, and Sinew's own worker at it, one job after the other."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ...child_python import start_python
from ...cores import CORES
from ...files import write_whole
from ...paths import find_in_folder
from ..events import EventReader
from ..job import Job
from .node import make_scratch

_ENTRY = Path(__file__).resolve().parents[2] / "entry.py"
SENT = ("spec.json", "inputs", "checkpoints")
"""What a node gets of a job's folder."""
# Whatever becomes of the process that started it, the worker goes with it: a node's end closes the pipe.
_WORKER = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(9)), daemon=True).start()
sys.argv[:] = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class TakeHost:
    """Works at a job in a folder of this node. cores: how many it may keep busy."""

    _process: "subprocess.Popen[bytes] | None" = None

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._home = Path(make_scratch())
        self._count = 0

    def begin(self, files: dict[str, bytes]) -> None:
        """Write a job's folder and start the worker."""
        self.end()
        self._count += 1
        self._job = Job(self._home / str(self._count))
        for name, data in files.items():
            path = self._job.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)
        self._reader = EventReader(self._job.events)
        self._sent: dict[str, int] = {name: 0 for name in files if name.startswith("checkpoints")}
        words = ["-c", _WORKER, str(_ENTRY), str(self._job.folder)]
        with open(self._job.log, "ab") as log:
            self._process = start_python(
                sys.executable,
                words,
                variables={CORES: str(self._cores)},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def look(self) -> dict[str, Any]:
        """What is new: events, files (name -> content) of checkpoints and what is shown, and how the worker ended."""
        process = self._process
        code = process.poll() if process is not None else None
        files = {}
        for path in (*find_in_folder(self._job.checkpoints, ".npz"), self._job.shown_file):
            if path.name.startswith("."):
                continue
            name = path.relative_to(self._job.folder).as_posix()
            try:
                changed = path.stat().st_mtime_ns
                if name not in self._sent or self._sent[name] not in (0, changed):
                    files[name] = path.read_bytes()
            except OSError:  # gone meanwhile: only the newest checkpoints are kept
                continue
            self._sent[name] = changed
        return {"events": self._reader.poll(), "files": files, "code": code}

    def results(self) -> dict[str, bytes]:
        """The files of the result: name -> content."""
        found = find_in_folder(self._job.take_file.parent)
        return {path.name: path.read_bytes() for path in found if not path.name.startswith(".")}

    def log(self) -> str:
        """The end of what the worker said."""
        return self._job.log.read_bytes()[-4000:].decode("utf-8", "replace")

    def request(self, name: str, there: bool) -> None:
        """Leave the file that asks the worker for something, or take it away."""
        path = {"cancel": self._job.cancel_file, "pause": self._job.pause_file, "finish": self._job.finish_file}[name]
        if there:
            self._job.touch(path)
        else:
            path.unlink(missing_ok=True)

    def end(self) -> None:
        """Let go of the job, whose worker is ended if it still runs."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
        shutil.rmtree(self._job.folder, ignore_errors=True)


def read_job_files(job: Job) -> dict[str, bytes]:
    """What a node needs of a job's folder: path in it -> content."""
    paths = [job.folder / "spec.json", *(job.inputs / name for name in job.spec.inputs)]
    newest = sorted(path for path in find_in_folder(job.checkpoints, ".npz") if not path.name.startswith("."))[-1:]
    return {path.relative_to(job.folder).as_posix(): path.read_bytes() for path in (*paths, *newest)}
