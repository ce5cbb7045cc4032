# SPDX-License-Identifier: GPL-3.0-or-later
"""``jobs``: what is running, what ran, and what to do about it."""

import argparse
import json
import sys
import time

from ...core import jobs
from ...core.errors import JobError, SinewError
from ..setup import preferences
from . import CANCELLED
from .progress import ProgressLine

_WHICH_RUN = "jobs list shows which ones run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    clean = verbs.add_parser("clean", help="delete old jobs that are not running")
    clean.add_argument("--older-than", type=float, default=30.0, metavar="DAYS", help="default 30")
    clean.add_argument("--all", action="store_true", help="also those whose result was never baked")


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    return _WHAT[arguments.what or "list"](arguments)


def _find(prefix: str) -> jobs.Job:
    found = [job for job in jobs.all_jobs() if job.spec.id.startswith(prefix)]
    exact = [job for job in found if job.spec.id == prefix]
    if len(exact or found) != 1:
        problem = f"There is no job '{prefix}'" if not found else f"Several jobs begin with '{prefix}'"
        raise JobError(problem, "See 'sinew jobs' for the ids")
    return (exact or found)[0]


def _list(arguments: argparse.Namespace) -> int:
    rows = [(job, job.status()) for job in jobs.all_jobs()]
    if getattr(arguments, "json", False):
        print(json.dumps([_row(job, status) for job, status in rows], indent=2))
        return 0
    if not rows:
        print(f"No jobs in {jobs.jobs_root()}")
    for job, status in rows:
        print(f"{job.spec.id:<40} {status.state:<10} {status.fraction:4.0%}  {job.spec.method:<14} {job.spec.title}")
    return 0


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
        shown["report"] = job.result().report
    print(json.dumps(shown, indent=2))
    return 0


def _cancel(arguments: argparse.Namespace) -> int:
    job = _find(arguments.id)
    if not job.status().alive:
        raise JobError(f"Job '{job.spec.id}' is not running: it is {job.status().state}", _WHICH_RUN)
    job.cancel()
    print(f"{job.spec.id}: {jobs.wait(job).state}")
    return 0


def _pause(arguments: argparse.Namespace) -> int:
    job = _find(arguments.id)
    if not job.status().alive:
        raise JobError(f"Job '{job.spec.id}' is not running: it is {job.status().state}", _WHICH_RUN)
    job.pause()
    while (state := job.status().state) in ("starting", "running"):
        time.sleep(0.1)
    print(f"{job.spec.id}: {state}")
    return 0


def _resume(arguments: argparse.Namespace) -> int:
    job = _find(arguments.id)
    status = run_to_end(job)
    print(f"{job.spec.id}: {status.state}")
    if status.state == "failed":
        raise SinewError(status.message, status.hint)
    return CANCELLED if status.state == "cancelled" else 0


def _clean(arguments: argparse.Namespace) -> int:
    gone = jobs.clean_jobs(older_than_days=arguments.older_than, keep_uncollected=not arguments.all)
    print(f"{len(gone)} jobs deleted")
    return 0


_WHAT = {"list": _list, "show": _show, "cancel": _cancel, "pause": _pause, "resume": _resume, "clean": _clean}


def run_to_end(job: jobs.Job) -> jobs.JobStatus:
    """Run a job to its end with a line of progress; Ctrl-C cancels it and waits until it has stopped."""
    if job.has_result():
        return job.status()
    line = ProgressLine(sys.stderr)
    job.go_on()
    process = None if job.status().alive else jobs.launch(job, preferences.preferred_python())
    try:
        return jobs.wait(job, process, on_status=line.show)
    except KeyboardInterrupt:
        job.cancel()
        line.say("cancelling …")
        return jobs.wait(job, process)
    finally:
        line.end()
