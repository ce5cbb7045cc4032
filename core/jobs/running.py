# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker's side of a run: what a method sees as ``Run``."""

import logging
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import CannotWrite
from ..files import to_jsonable, write_arrays
from ..learn.shards import ShardSpreader
from ..motion.take import Measurement
from ..paths import is_there
from ..sim.trace import Trace
from . import checkpoints
from .events import append_event
from .job import Job

# Progress is written at most this often: every tenth of a second at first, and less often as the run gets
# longer, so that the events of a day's run are still small and quickly read.
_OFTEN_S = 0.1
_SELDOM_S = 2.0
_SLOWING = 1000.0
# A worker that is paused looks this often whether it may go on.
_REST_S = 0.2

_log = logging.getLogger(__name__)


class Cancelled(BaseException):
    """The user wants the run to stop. Not an ``Exception``, so that no method swallows it by mistake."""


class WorkerRun:
    """Progress, checkpoints, randomness and cancelling of one run; implements ``core.control.method.Run``."""

    def __init__(self, job: Job, number: int) -> None:
        self.job = job
        self.number = number
        self.engine = "none"
        self.seed = job.spec.seed
        self.rng = np.random.default_rng(self.seed)
        self.findings: list[dict[str, str]] = []
        self.details: dict[str, Any] = {}
        self.traces: list[Trace] = []
        self.products: dict[str, tuple[Mapping[str, np.ndarray], Mapping[str, Any]]] = {}
        self.shards: ShardSpreader | None = None
        self._began = time.monotonic()
        self._rested_s = 0.0
        self._written = 0.0
        self._waiting: dict[str, Any] | None = None
        self._furthest = 0.0
        self.going_on_from: int | None = None
        """The step whose checkpoint was read, until the method has got beyond it."""

    @property
    def wall_s(self) -> float:
        """Seconds since the run began, without its pauses."""
        return time.monotonic() - self._began - self._rested_s

    def progress(self, step: int, total: int, /, **measurements: Measurement) -> None:
        """Say that ``step`` of ``total`` is done, with live numbers for the curve."""
        self.raise_if_cancelled()
        self.going_on_from = None
        step, self._furthest = self._never_back(int(step), int(total))
        self._waiting = {"step": step, "total": int(total), "measurements": measurements}
        between_s = min(_SELDOM_S, max(_OFTEN_S, self.wall_s / _SLOWING))
        if step >= total or time.monotonic() - self._written >= between_s:
            self.flush()
        self.rest_if_paused()

    def _never_back(self, step: int, total: int) -> tuple[int, float]:
        """The step, or the one that is as far as this run ever was; and how far that is.

        Work that turns out to be more than was thought goes on for longer where it was, but not backwards.
        """
        if total <= 0:
            return step, self._furthest
        furthest = max(self._furthest, step / total)
        return max(step, int(furthest * total + 1e-9)), furthest

    def save_checkpoint(self, step: int, /, **arrays: np.ndarray) -> None:
        """Keep what is needed to go on from ``step`` after a kill."""
        self.raise_if_cancelled()
        self.going_on_from = None
        checkpoints.write_checkpoint(self.job.checkpoints, int(step), arrays, self.rng)

    def load_checkpoint(self) -> tuple[int, dict[str, np.ndarray]] | None:
        """The newest whole checkpoint as (step, arrays), with ``rng`` put back, or None at the beginning."""
        self.raise_if_cancelled()
        self.rest_if_paused()
        checkpoint = checkpoints.read_newest_checkpoint(self.job.checkpoints, self.rng)
        if checkpoint:
            _log.info("Going on from the checkpoint of step %d", checkpoint[0])
            self.write("resumed", step=checkpoint[0])
            self.going_on_from = checkpoint[0]
        return checkpoint

    def attachment(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """Arrays and description that the job was made with under this name, or None if it has none."""
        return self.job.attachment(name) if f"{name}.npz" in self.job.spec.inputs else None

    def add_finding(self, kind: str, message: str, hint: str) -> None:
        """Note something the user should know about the motion, for the panel and the report."""
        self.findings.append({"kind": kind, "message": message, "hint": hint})
        self.write("finding", finding=self.findings[-1])

    def add_detail(self, name: str, value: Mapping[str, Any]) -> None:
        """Put plain values into the report under a name of their own."""
        self.details[name] = to_jsonable(value)

    def add_trace(self, trace: Trace) -> None:
        """Keep what physics saw of a character until the take is measured."""
        self.traces.append(trace)

    def add_product(self, name: str, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Keep something else that was made until the result is written."""
        self.job.product_file(name)  # refuses a name that no file could have, before anything is lost by it
        self.products[name] = (dict(arrays), to_jsonable(meta))

    def show(self, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
        """Let whoever watches see how it stands; a full disk is no reason to stop for that."""
        try:
            write_arrays(self.job.shown_file, arrays, to_jsonable(meta))
        except CannotWrite as error:
            _log.warning("%s", error)

    def is_enough(self) -> bool:
        """Whether the user wants what there is so far."""
        return is_there(self.job.finish_file)

    def raise_if_cancelled(self) -> None:
        """Raise ``Cancelled`` if the user asked for it."""
        if is_there(self.job.cancel_file):
            raise Cancelled

    def rest_if_paused(self) -> None:
        """Do nothing as long as the user wants a pause; a cancel ends it as well.

        A file and sleep, not a signal, so that it is the same on every system, lasts when Blender is closed, and
        nothing of the run changes by it. A worker that is killed meanwhile goes on from its checkpoint like any other.
        """
        if not is_there(self.job.pause_file):
            return
        self.flush()  # what is seen is where it really is
        self.write("paused")
        began = time.monotonic()
        try:
            while is_there(self.job.pause_file):
                self.raise_if_cancelled()
                time.sleep(_REST_S)
        finally:
            self._rested_s += time.monotonic() - began
            self.write("continued")

    def flush(self) -> None:
        """Write the last report of progress, if it still waits for its turn."""
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self.write("progress", **waiting)
            self._written = time.monotonic()

    def write(self, kind: str, **fields: Any) -> None:
        """Append an event of this run."""
        append_event(self.job.events, kind, self.number, mode=self.job.mode, **fields)
