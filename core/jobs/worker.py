# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker: one process, one run of one job. ``python core/entry.py JOB_FOLDER``. With ``--where=ray...`` before the
folder, or several of them, the jobs are done on a cluster (``cluster/driver.py``).

A run ends with exactly one of the events done, failed, cancelled. If it is killed there is none, and
whoever looks at the job sees that its lock is free and calls it lost.
"""

import errno
import faulthandler
import logging
import os
import platform
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ..control.frame_range import run_in_range
from ..errors import BadFile, SinewError
from ..files import PRIVATE, cannot_write, remove_file, sha256_of, write_arrays, write_json
from ..learn.shards import ShardSpreader
from ..motion import Clip, Take
from ..motion.inspection import UNIT_KINDS, inspect_clip
from ..motion.io.npz import save_take
from ..paths import find_in_folder, is_plain_file
from .engine_choice import resolve_engine
from .events import append_event, cut_torn_tail
from .job import Job
from .lock import close_in_forked_children, hold_lock
from .log_lines import log_to
from .measuring import measure_job_takes
from .memory import OUT_OF_MEMORY, OUT_OF_MEMORY_HINT, count_memory_ends, is_out_of_memory
from .report import make_report
from .running import Cancelled, WorkerRun
from .where import HERE, Where, parse_where

# Exit codes, for whoever started the worker by hand; the events are what counts.
DONE, FAILED, CANCELLED, REFUSED = 0, 1, 2, 3

# What a method may raise for a checkpoint that somebody else wrote, or another method.
_UNFIT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Run the job in the folder named by the only argument; gives the exit code."""
    faulthandler.enable()  # a crash inside a physics engine leaves its stack in worker.log
    log_to(sys.stderr)
    where, folders = _parse_words(arguments)
    one_job = len(folders) == 1 or (folders and not where.is_here)
    if not one_job or not all(is_plain_file(Path(folder) / "spec.json") for folder in folders):
        _log.error("Give the folder of one job (it holds a spec.json): %s", list(arguments))
        return REFUSED
    jobs = [Job(Path(folder)) for folder in folders]
    _listen_for_signals(jobs)
    if not where.is_here:
        return _run_together(jobs, where)
    job = jobs[0]
    close_in_forked_children()
    try:
        job.require_own_folders()
        if job.mode == PRIVATE:
            os.umask(0o077)  # what a run makes is its user's own, as the folder is
        with hold_lock(job.lock, mode=job.mode) as held:
            if not held:
                _log.error("Another worker is at this job")
                return REFUSED
            return _run(job)
    except SinewError as error:
        # Not even the events can be written. The job will show as lost; the log, if anything, knows why.
        _log.error("%s", error)
        return FAILED


def _run(job: Job) -> int:
    """Prepare the folder for a new run, run, and write how it ended."""
    number = _begin_run(job)
    if number is None:
        return DONE
    return {"done": DONE, "failed": FAILED, "cancelled": CANCELLED}[run_to_last_event(job, number)]


def _begin_run(job: Job) -> int | None:
    """The number of a new run, which is then noted as started; None where the job is done already."""
    cut_torn_tail(job.events)
    if job.has_result():
        _log.info("The job is done already")
        return None
    _remove_parts(job)
    number = job.history.next_run
    _log.info("Run %d on Python %s, process %d", number, platform.python_version(), os.getpid())
    about = {"pid": os.getpid(), "host": platform.node(), **count_memory_ends()}
    append_event(job.events, "started", number, **about)
    return number


def run_to_last_event(job: Job, number: int, shards: ShardSpreader | None = None) -> str:
    """Do a run that has begun, and write how it ended; gives the last event's kind.

    shards: where rollouts are spread, if not here.
    """
    end, fields = _outcome(job, number, shards)
    _write_end(job, number, end, fields)
    return end


def _parse_words(arguments: Sequence[str]) -> tuple[Where, list[str]]:
    """Where to work, and the folders of jobs."""
    option = "--where="
    if arguments and arguments[0].startswith(option):
        return parse_where(arguments[0].removeprefix(option)), list(arguments[1:])
    return HERE, list(arguments)


def _run_together(jobs: Sequence[Job], where: Where) -> int:
    """Have jobs done on a cluster; those at which another worker is are left to it."""
    from .cluster.driver import run_on_cluster
    from .cluster.take_relay import RelayedJob

    with ExitStack() as locks:
        begun = []
        for job in jobs:
            try:
                job.require_own_folders()
                if not locks.enter_context(hold_lock(job.lock, mode=job.mode)):
                    _log.error("Another worker is at '%s'", job.folder)
                elif (number := _begin_run(job)) is not None:
                    begun.append(RelayedJob(job, number))
            except SinewError as error:
                _log.error("%s", error)
        run_on_cluster(begun, where)
        return DONE if all(one.job.status().state == "done" for one in begun) else FAILED


def _remove_parts(job: Job) -> None:
    """Remove what a kill left half-written. Nobody else writes while we hold the lock."""
    for folder in (job.checkpoints, job.take_file.parent):
        for part in find_in_folder(folder, ".part"):
            if part.name.startswith("."):
                remove_file(part)


def _outcome(job: Job, number: int, shards: ShardSpreader | None) -> tuple[str, dict[str, Any]]:
    """Run the job; gives the last event's kind and fields, whatever happens."""
    try:
        return "done", _work(job, number, shards)
    except Cancelled:
        return "cancelled", {"message": "Cancelled", "hint": "Resume it to go on from its last checkpoint"}
    except SinewError as error:
        _log.exception("The job failed")
        return "failed", {"message": error.message, "hint": error.hint}
    except BaseException as error:  # noqa: BLE001 - whatever it is, the run ends with a word
        if is_out_of_memory(error):
            traceback.clear_frames(error.__traceback__)  # what they hold may be most of the memory that there is
            _log.exception("The job failed")
            return "failed", {"message": OUT_OF_MEMORY, "hint": OUT_OF_MEMORY_HINT}
        _log.exception("A bug")
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            full = cannot_write(error.filename or job.folder, error)
            return "failed", {"message": full.message, "hint": full.hint}
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return "failed", {"message": f"Sinew met a bug: {what}", "hint": f"Look into '{job.log}' and report it"}


def _work(job: Job, number: int, shards: ShardSpreader | None) -> dict[str, Any]:
    """Inputs to result; gives what the ``done`` event carries."""
    spec = job.spec
    run = WorkerRun(job, number)
    run.shards = shards
    run.raise_if_cancelled()
    run.rest_if_paused()
    job.check_inputs()
    clip = job.clip()
    method = job.method
    settings = method.settings_type.from_mapping(spec.settings)
    run.engine = resolve_engine(spec.engine, method)
    _note_findings(clip, run)
    try:
        take = run_in_range(method, clip, settings, run)
    except _UNFIT as error:
        if run.going_on_from is None:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadFile(
            f"The checkpoint of step {run.going_on_from} in '{job.checkpoints}' is none of this job ({what})",
            "Delete that folder, then resume the job: it begins anew",
        ) from error
    run.flush()
    return _write_result(run, None if take is None else measure_job_takes(take, clip, run))


def _note_findings(clip: Clip, run: WorkerRun) -> None:
    """Tell what the user should know about the motion before trusting what physics makes of it."""
    for finding in inspect_clip(clip):
        if finding.kind in UNIT_KINDS:  # of the rest the method says what it made of it
            run.add_finding(finding.kind, finding.message, finding.hint)


def _listen_for_signals(jobs: Sequence[Job]) -> None:
    """Make a polite signal a cancel: the method stops at its next report, and nothing is half done."""

    def ask(*_: object) -> None:
        for job in jobs:
            with suppress(SinewError):
                job.ask_to_stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)


def _write_result(run: WorkerRun, take: Take | None) -> dict[str, Any]:
    """Write take, products and report; they count only once the ``done`` event carries their hashes."""
    job = run.job
    written = [job.report_file, *map(job.product_file, run.products)]
    if take is not None:
        save_take(job.take_file, take)
        written.append(job.take_file)
    for name, (arrays, meta) in run.products.items():
        write_arrays(job.product_file(name), arrays, meta, checksum=True)  # it is kept as it is
    report = make_report(run, take)
    write_json(job.report_file, report)
    return {
        "message": "Done",
        "sha256": {path.name: sha256_of(path) for path in written},
        "measurements": report["measurements"],
        "fell": report["fell"],
        "lost": report["lost"],
        "summary": report["summary"],
    }


def _write_end(job: Job, number: int, kind: str, fields: dict[str, Any]) -> None:
    """Write the last event; a disk that is full for a moment gets another chance."""
    for pause_s in (0.2, 1.0, 3.0):
        try:
            append_event(job.events, kind, number, **fields)
            return
        except SinewError as error:
            _log.error("%s", error)
            time.sleep(pause_s)
    append_event(job.events, kind, number, **fields)
