# SPDX-License-Identifier: GPL-3.0-or-later
"""A job as a folder: what it is to do, how it stands, what came out of it."""

import hashlib
import math
import os
import re
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import limits
from ..control import registry
from ..control.method import Method
from ..errors import BadFile, CannotWrite, JobError, SinewError, UnknownMethod
from ..files import (
    cannot_write,
    encode_json,
    mode_in,
    open_to_write,
    read_arrays,
    read_bytes,
    read_json,
    sha256_of,
    write_whole,
)
from ..motion import Clip, Take
from ..motion.io.npz import load_clip, load_take
from ..paths import is_folder, is_link, is_there
from . import processes
from .history import History
from .lock import is_locked
from .memory import OUT_OF_MEMORY_HINT, memory_ended
from .spec import JobSpec, read_spec
from .where import HERE

_FULL_BYTES = 1 << 16


@dataclass(frozen=True)
class JobStatus:
    """How a job stands.

    state: 'created', 'starting', 'running', 'paused' (a living worker that waits), 'done', 'failed', 'cancelled', or
        'lost' (a worker that ended without a word: killed, crashed, power cut). All but the living and the done can
        be launched again. 'reading' while a part of what happened was not read yet.
    summary: how it went, in sentences, once it is done.
    curves: how the measurements went on the way, those that are numbers.
    fraction: 0 to 1; eta_s: seconds to go, None while unknown; wall_s: seconds of this run without its pauses; run:
        its number.
    """

    state: str
    step: int = 0
    total: int = 0
    fraction: float = 0.0
    eta_s: float | None = None
    message: str = ""
    hint: str = ""
    measurements: dict[str, Any] = field(default_factory=dict)
    run: int = 0
    wall_s: float = 0.0
    findings: tuple[dict[str, str], ...] = ()
    summary: tuple[str, ...] = ()
    curves: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether the newest run came to an end of its own."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def alive(self) -> bool:
        """Whether a worker is at it, or waits to go on."""
        return self.state in ("starting", "running", "paused")


@dataclass(frozen=True, eq=False)
class Result:
    """What a done job brought home; ``report`` is the content of ``report.json``."""

    take: Take
    report: dict[str, Any]


class Job:
    """A handle on a job's folder. Cheap, holds no file open; a status query reads only what is new."""

    def __init__(self, folder: Path) -> None:
        # One name for one folder, so that a worker started under another spelling is still found.
        self.folder = Path(folder).resolve()
        self.inputs = self.folder / "inputs"
        self.events = self.folder / "events.jsonl"
        self.lock = self.folder / "worker.lock"
        self.log = self.folder / "worker.log"
        self.cancel_file = self.folder / "cancel"
        self.finish_file = self.folder / "finish"
        self.pause_file = self.folder / "pause"
        self.shown_file = self.folder / "shown.npz"
        self.checkpoints = self.folder / "checkpoints"
        self.take_file = self.folder / "result" / "take.npz"
        self.report_file = self.folder / "result" / "report.json"
        self.history = History(self.events)

    def __repr__(self) -> str:
        return f"Job({str(self.folder)!r})"

    @cached_property
    def spec(self) -> JobSpec:
        """What the job is to do."""
        return read_spec(self.folder / "spec.json")

    @property
    def method(self) -> Method:
        """What does it; one that this Sinew does not have is a ``JobError``."""
        try:
            return registry.get_method(self.spec.method)
        except UnknownMethod as error:
            made_by = f"Job '{self.spec.title}' was made by another Sinew ({self.spec.sinew_version})"
            raise JobError(f"{made_by}: this one has no method '{self.spec.method}'", "Update Sinew") from error

    @cached_property
    def digest(self) -> str:
        """By what this very job is known, whatever it calls itself: its spec never changes."""
        return sha256_of(self.folder / "spec.json", limits.SPEC_BYTES)

    @property
    def mode(self) -> int:
        """Permissions of files in it: for the owner alone, unless the folder is open to others."""
        return mode_in(self.folder)

    def write_note(self, name: str, value: Any) -> None:
        """Keep plain values in a JSON file of the folder; more of them than are read again is refused."""
        data = encode_json(value)
        if len(data) > limits.SPEC_BYTES:
            why = f"it would have {len(data) // 1024} KB, and at most {limits.SPEC_BYTES // 1024} are read"
            raise CannotWrite(f"Cannot write '{self.folder / name}': {why}", "Take fewer characters in one job")
        write_whole(self.folder / name, data, self.mode)

    def read_note(self, name: str) -> dict[str, Any] | None:
        """What ``write_note`` kept; None for nothing, and for what cannot be read."""
        try:
            note = read_json(self.folder / name, limits.SPEC_BYTES)
        except BadFile:
            return None
        return note if isinstance(note, dict) else None

    def has_folder(self) -> bool:
        """Whether its folder is still there, as far as one may see."""
        return is_folder(self.folder)

    def require_own_folders(self) -> None:
        """Refuse a folder that leads elsewhere, before anything is written in it."""
        for path in (self.inputs, self.checkpoints, self.take_file.parent):
            if is_link(path):
                raise JobError(f"'{path}' is a link to another folder", "Delete the job, and start it anew")

    def clip(self) -> Clip:
        """The source clip."""
        return load_clip(self.inputs / "clip.npz")

    def attachment(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and description that ``create`` was given under this name."""
        return read_arrays(self.inputs / f"{name}.npz")

    def status(self, until_s: float = math.inf) -> JobStatus:
        """How the job stands now. until_s: a ``time.monotonic()`` after which nothing more is read of what happened."""
        history = self.history
        processes.reap_worker(self.folder)
        history.refresh(until_s)
        if history.behind:
            return self._status("reading", "Reading what happened", "")
        if history.run == 0:
            return JobStatus("created", message="Not started yet")
        while not history.end:
            if is_locked(self.lock):
                return self._alive(("paused" if history.paused else "running") if history.started else "starting")
            # The worker may have written its last words and gone between our reading and our looking at the lock.
            if not history.refresh():
                break
        if history.end:
            return self._ended()
        if not history.started and processes.is_starting(self.folder, history.launched):
            return self._alive("starting")
        return self._lost()

    def _alive(self, state: str) -> JobStatus:
        history = self.history
        message = "Starting the worker"
        if state == "running":
            message = f"Step {history.step} of {history.total}" if history.total else "Running"
            message = history.waiting or message
        elif state == "paused":
            message = "Paused"
        return self._status(state, message, "", alive=True)

    def _ended(self) -> JobStatus:
        end = self.history.end or {}
        return self._status(end["kind"], end.get("message", ""), end.get("hint", ""))

    def _lost(self) -> JobStatus:
        message = f"The worker ended without a word{processes.describe_exit(self.folder, self.history.launched)}"
        if memory_ended(self.history.started, self.log):
            return self._status("lost", f"{message}: memory seems to have run out", OUT_OF_MEMORY_HINT)
        if _disk_is_full(self.folder):
            return self._status("lost", f"{message}, and the disk of '{self.folder}' is full", "Free space and resume")
        where = (self.history.launched or {}).get("where", str(HERE))
        if where != str(HERE):  # Ray ends who works with a cluster that goes away
            message, hint = (
                f"{message}, on a cluster ({where}) that may be gone",
                "Resume it here, or there if it is back",
            )
            return self._status("lost", message, hint)
        return self._status("lost", message, f"Resume it, or look into '{self.log}'")

    def _status(self, state: str, message: str, hint: str, alive: bool = False) -> JobStatus:
        history = self.history
        fraction = min(1.0, history.step / history.total) if history.total else 0.0
        return JobStatus(
            state,
            history.step,
            history.total,
            1.0 if state == "done" else fraction,
            history.eta_s() if state in ("running", "paused") else None,
            message,
            hint,
            dict(history.measurements),
            history.run,
            history.wall_s(alive),
            tuple(history.findings),
            tuple((history.end or {}).get("summary", ())),
            {name: tuple(points) for name, points in history.curves.items()},
        )

    def cancel(self) -> None:
        """Ask the worker to stop; it does at its next report of progress. Nothing happens if none is at it."""
        if self.status().alive:
            self.ask_to_stop()

    def ask_to_stop(self) -> None:
        """Leave the file that asks the worker to stop."""
        self.touch(self.cancel_file)

    def finish(self) -> None:
        """Ask the worker to hand over what it has so far; nothing happens if none is at it."""
        if self.status().alive:
            self.touch(self.finish_file)
            self.go_on()

    def pause(self) -> None:
        """Ask for a rest: the worker waits at its next report of progress, and a waiting job is passed over.

        It lasts until ``go_on``, whoever is looking; nothing happens to a job that has ended.
        """
        status = self.status()
        if status.alive or status.state == "created":
            self.touch(self.pause_file)

    def go_on(self) -> None:
        """Take a ``pause`` back; the worker goes on with its very next step."""
        _remove(self.pause_file)

    def touch(self, path: Path) -> None:
        """Leave an empty file of the folder; one that is there already will do."""
        if not is_there(path):
            os.close(open_to_write(path, os.O_WRONLY | os.O_CREAT, self.mode))

    def forget_requests(self) -> None:
        """Remove what an earlier ``cancel``, ``finish`` or ``pause`` left, before a new run."""
        for path in (self.cancel_file, self.finish_file, self.pause_file):
            _remove(path)

    def product_file(self, name: str) -> Path:
        """Where something that was made beside the take is kept."""
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name == self.take_file.stem:
            raise JobError(f"What a job makes cannot be called '{name}'", "Use small letters, and not 'take'")
        return self.take_file.with_name(f"{name}.npz")

    def product(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, description) of what a done job made under this name beside its take, whole, or a ``JobError``."""
        path = self.product_file(name)
        if path.name not in self._hashes():
            raise JobError(f"Job '{self.spec.title}' has made no '{name}'", "Choose a job that makes one")
        return read_arrays(path)

    def product_bytes(self, name: str) -> bytes:
        """The file of what ``product`` gives, as the worker made it; these very bytes are compared."""
        path = self.product_file(name)
        data, digest = read_bytes(path), self._hashes().get(path.name)
        if hashlib.sha256(data).hexdigest() != digest:
            raise JobError(f"'{path}' is damaged: it is not what was written", "Start the job again")
        return data

    def shown(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """(arrays, description) of what the worker showed last of how it stands; None if that is nothing."""
        try:
            return read_arrays(self.shown_file, limits.SHOWN_BYTES) if is_there(self.shown_file) else None
        except BadFile:
            return None

    def result(self) -> Result:
        """The take and the report: whole and as the worker made them, or a ``JobError``."""
        self._hashes(with_take=True)
        return Result(load_take(self.take_file), self._read_report())

    def report(self) -> dict[str, Any]:
        """The report of a done job, also of one that makes no take; whole, or a ``JobError``."""
        self._hashes()
        return self._read_report()

    def _read_report(self) -> dict[str, Any]:
        report = read_json(self.report_file)
        if not isinstance(report, dict):
            raise JobError(f"'{self.report_file}' is no report", "Start the job again")
        return report

    def _hashes(self, *, with_take: bool = False) -> dict[str, str]:
        """File name -> sha256 of everything that a done job has made, all of it as the worker made it."""
        status = self.status()
        if status.state != "done":
            hint = "Wait until it is done" if status.alive else status.hint or "Start it"
            raise JobError(f"Job '{self.spec.title}' has no result: it is {status.state}", hint)
        hashes: dict[str, str] = (self.history.end or {}).get("sha256", {})
        take = {self.take_file.name} if with_take else set[str]()
        for name in {self.report_file.name, *take, *hashes}:
            _check(self.take_file.with_name(name), hashes.get(name), "Start the job again")
        return hashes

    def has_result(self) -> bool:
        """Whether it is done and all that it made is whole."""
        try:
            self.result() if self._makes_take() else self.report()
        except SinewError:
            return False
        return True

    def _makes_take(self) -> bool:
        """Whether there must be a take; so it is for a method that this Sinew does not know."""
        try:
            return self.method.makes_take
        except JobError:
            return True

    def check_inputs(self) -> None:
        """Refuse inputs that are not as ``create`` wrote them."""
        for name, digest in self.spec.inputs.items():
            _check(self.inputs / name, digest, "Simulate the Action again")

    def mark_collected(self, info: dict[str, Any]) -> None:
        """Note that the result was baked, and as what."""
        self.write_note("collected.json", info)

    def collected(self) -> dict[str, Any] | None:
        """What ``mark_collected`` noted, or None."""
        return self.read_note("collected.json")


def open_job(folder: Path | str) -> Job:
    """The job in the folder, its spec read; a ``JobError`` says why there is none."""
    try:
        job = Job(Path(folder))
        found = (job.folder / "spec.json").is_file()
    except (OSError, ValueError, RuntimeError) as error:  # may not be looked into; no path; links in a circle
        why = getattr(error, "strerror", None) or error
        raise JobError(
            f"The folder '{folder}' cannot be read: {why}", "Ask its owner, or choose another one"
        ) from error
    if not found:
        raise JobError(f"There is no job in '{folder}'", "Choose a folder that holds a spec.json")
    _ = job.spec
    return job


def _check(path: Path, digest: str | None, hint: str) -> None:
    try:
        whole = sha256_of(path) == digest
    except BadFile as error:
        raise JobError(error.message, hint) from error
    if not whole:
        raise JobError(f"'{path}' is damaged: it is not what was written", hint)


def _disk_is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _FULL_BYTES
    except OSError:
        return False


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
