# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a job from a command line, the same for every verb: to its end, and then home with all that was asked for."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core import jobs
from ...core.errors import SinewError
from ..api.work import bake_result
from ..rig.rig_writer import WrittenAction
from ..scene import saving
from . import CANCELLED
from .jobs import run_to_end
from .lines import indented
from .outputs import rendered, say_cancelled, write_report


def run_job(arguments: argparse.Namespace, job: jobs.Job, **asked: Any) -> int:
    """Run the job to its end; 0 when it is done, ``CANCELLED`` when it was stopped, an error when it failed.

    asked: what the report of a job that is not done says of what it was given.
    """
    status = run_to_end(job, *elsewhere(arguments))
    if status.state == "done":
        return 0
    write_report(arguments, {**jobs.unfinished_report(job), **asked})
    if status.state == "cancelled":
        say_cancelled(arguments, job)
        return CANCELLED
    raise SinewError(status.message or f"The job was {status.state}", status.hint)


def elsewhere(arguments: argparse.Namespace) -> tuple[jobs.Where, ...]:
    """The place that was asked for, if it is not here."""
    return () if arguments.where.is_here else (arguments.where,)


def bake_take(
    arguments: argparse.Namespace, job: jobs.Job, files: Mapping[str, Path] | None = None, **about: Any
) -> tuple[dict[str, Any], WrittenAction]:
    """Bake a done job's take and save the scene if that was asked for; gives the report so far.

    files: where learned files go, as in ``requests.collect``. about: goes into the report.
    """
    take = bake_result(job, files)
    report = {**take.report, **about}
    if arguments.out:
        saving.save_blend(arguments.out.resolve())
        report["out"] = str(arguments.out)
    return report, take.written


def render_take(arguments: argparse.Namespace, report: dict[str, Any], written: WrittenAction, view: str) -> None:
    """Render what was asked for, and write the report."""
    report["preview"] = [str(path) for path in rendered(arguments, written, view=view)]
    write_report(arguments, report)


def summarize(report: dict[str, Any]) -> tuple[str, ...]:
    """What happened: a line of what was done, and below it one for each sentence about how it went."""
    engine = "" if report["engine"] == "none" else f" on {report['engine']}"
    done = (
        f"{report['armature']}: Action '{report['action']}' made by {report['method']}{engine} "
        f"from {report['duration_s']:.2f} s of motion in {report['wall_s']:.1f} s"
    )
    others = [f"{about['armature']}: Action '{about['action']}'" for about in report.get("characters", ())[1:]]
    things = [f"{about['object']}: Action '{about['action']}'" for about in report.get("props", ())]
    return indented(done, [*report.get("summary", ()), *others, *things])
