# SPDX-License-Identifier: GPL-3.0-or-later
"""``jobs``: what is running, what ran, and what to do about it."""

import argparse
import sys
import time

from ...core import jobs
from ...core.errors import JobError, SinewError
from ..api.running import complete_job
from . import CANCELLED
from .job_arguments import add_where
from .lines import say, say_json
from .progress import ProgressLine
from .verb import Verb

_UNREADABLE = "unreadable"
_WHICH_RUN = "jobs list shows which ones run"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    verbs = parser.add_subparsers(dest="what", metavar="WHAT")
    listing = verbs.add_parser("list", help="list the jobs (also without a word)")
    listing.add_argument("--json", action="store_true", help="print a JSON list")
    for name, summary in (
        ("show", "print a job's spec, state and report as JSON"),
        ("cancel", "ask a job to stop"),
        ("pause", "let a job rest until it is resumed"),
        ("resume", "go on with a job that was paused, lost, cancelled or failed, and wait for it"),
    ):
        verb = verbs.add_parser(name, help=summary)
        verb.add_argument("id", metavar="ID", help="the job's id or the beginning of it")
        if name == "resume":
            add_where(verb)
    clean = verbs.add_parser("clean", help="delete old jobs that are not running")
    clean.add_argument("--older-than", type=float, default=30.0, metavar="DAYS", help="default 30")
    clean.add_argument("--all", action="store_true", help="also those whose result was never baked")


def _run(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    return _WHAT[arguments.what or "list"](arguments)


def _find(prefix: str) -> jobs.Job:
    there = jobs.find_jobs()
    for one in there:
        if isinstance(one, jobs.UnreadableJob) and one.folder.name == prefix:
            raise one.problem
    found = [one for one in there if isinstance(one, jobs.Job) and one.spec.id.startswith(prefix)]
    exact = [job for job in found if job.spec.id == prefix]
    if len(exact or found) != 1:
        problem = f"There is no job '{prefix}'" if not found else f"Several jobs begin with '{prefix}'"
        raise JobError(problem, "See 'sinew jobs' for the ids")
    return (exact or found)[0]


def _list(arguments: argparse.Namespace) -> int:
    rows = [_readable_row(found) for found in jobs.find_jobs()]
    if getattr(arguments, "json", False):
        say_json(rows)
        return 0
    if not rows:
        say(f"No jobs in {jobs.jobs_root()}")
    for row in rows:
        words = row["message"] if row["state"] == _UNREADABLE else row["title"]
        say(f"{row['id']:<40} {row['state']:<10} {row['fraction']:4.0%}  {row['method']:<14} {words}")
    return 0


def _readable_row(found: jobs.Job | jobs.UnreadableJob) -> dict[str, object]:
    """A line of the list, also for what cannot be read: that costs no more than its line."""
    if isinstance(found, jobs.UnreadableJob):
        folder, problem = found.folder, found.problem
    else:
        try:
            return _row(found, found.status())
        except SinewError as error:
            folder, problem = found.folder, error
    about = {"id": folder.name, "title": "", "method": "", "state": _UNREADABLE, "fraction": 0.0}
    return {**about, "message": str(problem), "folder": str(folder)}


def _row(job: jobs.Job, status: jobs.JobStatus) -> dict[str, object]:
    return {
        "id": job.spec.id,
        "title": job.spec.title,
        "method": job.spec.method,
        "state": status.state,
        "fraction": status.fraction,
        "message": status.message,
        "folder": str(job.folder),
    }


def _show(arguments: argparse.Namespace) -> int:
    job = _find(arguments.id)
    status = job.status()
    shown = {**_row(job, status), "hint": status.hint, "spec": job.spec.to_mapping()}
    if status.state == "done":
        shown["report"] = job.report()
    say_json(shown)
    return 0


def _cancel(arguments: argparse.Namespace) -> int:
    job = _find(arguments.id)
    if not job.status().alive:
        raise JobError(f"Job '{job.spec.id}' is not running: it is {job.status().state}", _WHICH_RUN)
    job.cancel()
    say(f"{job.spec.id}: {jobs.wait(job).state}")
    return 0


def _pause(arguments: argparse.Namespace) -> int:
    job = _find(arguments.id)
    if not job.status().alive:
        raise JobError(f"Job '{job.spec.id}' is not running: it is {job.status().state}", _WHICH_RUN)
    job.pause()
    while (state := job.status().state) in ("starting", "running"):
        time.sleep(0.1)
    say(f"{job.spec.id}: {state}")
    return 0


def _resume(arguments: argparse.Namespace) -> int:
    job = _find(arguments.id)
    status = run_to_end(job, arguments.where)
    say(f"{job.spec.id}: {status.state}")
    if status.state == "failed":
        raise SinewError(status.message, status.hint)
    return CANCELLED if status.state == "cancelled" else 0


def _clean(arguments: argparse.Namespace) -> int:
    gone = jobs.clean_jobs(older_than_days=arguments.older_than, keep_uncollected=not arguments.all)
    say(f"{len(gone)} jobs deleted")
    return 0


_WHAT = {"list": _list, "show": _show, "cancel": _cancel, "pause": _pause, "resume": _resume, "clean": _clean}


def run_to_end(job: jobs.Job, where: jobs.Where = jobs.HERE) -> jobs.JobStatus:
    """Run a job to its end with a line of progress; Ctrl-C cancels it and waits until it has stopped."""
    line = ProgressLine(sys.stderr)
    try:
        return complete_job(job, where, line.show, lambda: line.say("cancelling …"))
    finally:
        line.end()


VERB = Verb(_add_arguments, _run)
