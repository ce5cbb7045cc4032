# SPDX-License-Identifier: GPL-3.0-or-later
"""A job as the panel shows it: plain text and numbers, ready to draw."""

from dataclasses import dataclass

from ...core.errors import SinewError
from ...core.jobs import Job, JobStatus
from ...core.paths import is_there
from ...core.texts import one_line
from ..takes.report_texts import method_label, time_text
from . import queueing

RESUMABLE = ("created", "cancelled", "failed", "lost")

_STATES = {
    "created": "Not started",
    "reading": "Reading",
    "starting": "Starting",
    "running": "Running",
    "paused": "Paused",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
    "lost": "Interrupted",
    "missing": "Not here",
}


@dataclass(frozen=True)
class JobView:
    """What there is to see of a job. Texts that are only shown are one line each, whatever a job or a file holds.

    state: as in ``JobStatus``, or 'missing' for a folder that is not on this computer.
    text: the state in words, with the time left where it is known; stands on the progress bar.
    message, hint: what went wrong or is waited for, and the fix. ``is_error`` tells which.
    action: the Action that was baked from it, '' if none was. file: the learned file that came home without a take.
    summary: how it went, in sentences.
    notes: what the worker found out about the motion.
    batch, variation: which batch it belongs to and which one of it it is; '' and 0 for none.
    queued: whether it waits for its turn. lost: whether the character was lost, for a job that is done.
    armature: whom it is for, by the name of then; mark: by what that is known, whatever it is called now.
    method_name: as the registry has it; ``method`` is for people.
    curves: how its live numbers went so far, by name, each with the newest one last.
    eta_s, wall_s: whole seconds to go, None while unknown, and that it took so far. paused: whether it was asked to
        rest, by its worker's pause or by being passed over in the queue.
    doing: what it does now, in an animator's words; '' where it does not say.
    """

    id: str
    title: str
    method: str
    state: str
    text: str
    fraction: float = 0.0
    message: str = ""
    hint: str = ""
    is_error: bool = False
    action: str = ""
    summary: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    batch: str = ""
    variation: int = 0
    queued: bool = False
    lost: bool = False
    armature: str = ""
    method_name: str = ""
    curves: tuple[tuple[str, tuple[float, ...]], ...] = ()
    eta_s: int | None = None
    wall_s: int = 0
    paused: bool = False
    doing: str = ""
    mark: str = ""
    file: str = ""

    def is_for(self, name: str, mark: str) -> bool:
        """Whether it is for the armature that is called or marked so."""
        return self.armature == name or bool(mark and self.mark == mark)

    @property
    def alive(self) -> bool:
        """Whether a worker is at it, or waits to go on."""
        return self.state in ("starting", "running", "paused")

    @property
    def resumable(self) -> bool:
        """Whether it can be started again where it stopped."""
        return self.state in RESUMABLE and not self.queued


def view_job(job: Job, status: JobStatus, waiting: str = "", problem: SinewError | None = None) -> JobView:
    """The view of a job. ``waiting``: why its result is not baked yet; ``problem``: what was in the way."""
    spec, state = job.spec, status.state
    message, hint, is_error = "", "", False
    if problem is not None:
        message, hint, is_error = problem.message, problem.hint, True
    elif state in ("failed", "lost"):
        message, hint, is_error = status.message or "The worker failed", status.hint, True
    elif state == "done":
        message = waiting
    collected = job.collected() if state == "done" else None
    return JobView(
        spec.id,
        one_line(spec.title),
        one_line(method_label(spec.method)),
        state,
        _text(job, status),
        status.fraction,
        one_line(message),
        one_line(hint),
        is_error,
        str((collected or {}).get("action", "")),
        tuple(map(one_line, status.summary)),
        tuple(one_line(finding.get("message", "")) for finding in status.findings),
        queueing.batch_of(job),
        queueing.number_of(job),
        queueing.is_queued(job, state) and problem is None,
        any((job.history.end or {}).get(word) for word in ("fell", "lost")),
        spec.target.armature,
        spec.method,
        tuple(status.curves.items()),
        None if status.eta_s is None else round(status.eta_s),
        round(status.wall_s),
        (status.alive and is_there(job.pause_file)) or queueing.is_held_back(job, state),
        doing=one_line(str(status.measurements.get("doing", ""))) if status.alive else "",
        mark=spec.target.mark,
        file=one_line(str((collected or {}).get("file", ""))),
    )


def missing_view(job_id: str, title: str, problem: SinewError) -> JobView:
    """The view of a job that the file names but that cannot be read here."""
    return JobView(
        job_id,
        one_line(title or job_id),
        "",
        "missing",
        _STATES["missing"],
        0.0,
        problem.message,
        problem.hint,
        is_error=True,
    )


def _text(job: Job, status: JobStatus) -> str:
    word = _STATES.get(status.state, status.state)
    if status.alive and (asked := _asked(job, status)):
        return asked
    if queueing.is_queued(job, status.state):
        return "Waiting for its turn"
    if queueing.is_held_back(job, status.state):
        return "Paused before its turn"
    if status.state == "running":
        left = "" if status.eta_s is None else f"  ·  {time_text(status.eta_s)} left"
        return f"{status.fraction:.0%}{left}"
    if status.state == "done" and status.wall_s >= 1.0:
        return f"{word} in {time_text(status.wall_s)}"
    if status.state in ("cancelled", "lost", "paused") and status.fraction > 0:
        return f"{word} at {status.fraction:.0%}"
    return word


def _asked(job: Job, status: JobStatus) -> str:
    """What a living worker was asked for and has not done yet, '' for nothing."""
    for path, word in ((job.cancel_file, "Stopping"), (job.finish_file, "Finishing")):
        if is_there(path):
            return word
    return "Pausing" if status.state != "paused" and is_there(job.pause_file) else ""
