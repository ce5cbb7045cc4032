# SPDX-License-Identifier: GPL-3.0-or-later
"""What learning from a file, and testing what was learned, are asked with; for verbs that need no scene."""

import argparse
from collections.abc import Sequence
from typing import Any

from ...core import jobs
from ...core.control import registry
from ...core.errors import BadSettings, JobError
from ..learned.learned_file import learned_file
from ..methods.job_inputs import FamilyRequest
from .job_arguments import add_engine, add_job_folder, add_seed, add_settings
from .lines import indented, path_argument, say, say_json
from .outputs import require_outputs, write_report


def add_learning_arguments(
    parser: argparse.ArgumentParser, method: str, result: str, *, minutes: str = "", engine: bool = True
) -> None:
    """Declare them. method: its name; result: what is the same where the seed is; minutes: what --minutes is for."""
    add = parser.add_argument
    if minutes:
        add("--minutes", type=float, metavar="M", help=f"{minutes}; the same as --set minutes=M")
    if engine:
        add_engine(parser)
    add_seed(parser, result)
    add_settings(parser, f"of these: {', '.join(registry.get_method(method).settings_type.field_names())}")
    add("--json", action="store_true", help="print the report")
    add("--report", type=path_argument, metavar="FILE.json", help="write what was done and measured")
    add_job_folder(parser)


def learning_request(
    arguments: argparse.Namespace, method: str, words: Sequence[str] = ("minutes",), engine: str = ""
) -> FamilyRequest:
    """What is asked for; words: arguments that are settings too. A wrong one is refused before anything is opened.

    engine: of a method that is not asked for one.
    """
    given = {name: getattr(arguments, name) for name in words}
    texts = [*arguments.set, *(f"{name}={value}" for name, value in given.items() if value is not None)]
    settings = registry.get_method(method).settings_type.from_texts(texts).to_mapping()
    return FamilyRequest("", settings, engine or arguments.engine, arguments.seed)


def require_learned_out(arguments: argparse.Namespace, family: str) -> None:
    """Find out now, not after an hour, that nothing could be written; what is learned from is never written over."""
    ending = learned_file(family).kind.ending
    if arguments.out is None:
        raise BadSettings("There is no place for what is learned", f"Give --out FILE{ending}")
    if arguments.out.resolve() == arguments.file.resolve():
        raise BadSettings(f"'{arguments.out}' is what is learned from", "Give --out another name")
    arguments.preview = []
    require_outputs(arguments, f".{ending.rpartition('.')[2]}")


def finish_learning(arguments: argparse.Namespace, job: jobs.Job, family: str) -> None:
    """Keep what was learned where it was asked for, and say how it went and what is in the file now."""
    file, out = learned_file(family), arguments.out.resolve()
    if file.keep(job, out) is None:
        raise JobError(f"Job '{job.spec.title}' has learned nothing", "Train it again in another folder")
    job.mark_collected({"file": arguments.out.name})
    report = {**job.report(), "input": str(arguments.file), "out": str(arguments.out)}
    write_report(arguments, report)
    if arguments.json:
        say_json(report)
        return
    found = [finding["message"] for finding in report.get("findings", ())]
    sentences = file.kind.describe(file.read_file(out).model)
    say(*indented(f"{arguments.out}: trained in {report['wall_s']:.0f} s", [*sentences, *found]))


def finish_test(arguments: argparse.Namespace, job: jobs.Job) -> dict[str, Any]:
    """Write the report of a test, with its figures at the top, and print it as data if that was asked for."""
    job.mark_collected({})
    told = job.report()
    report = {**told, **told["test"], "input": str(arguments.file)}
    write_report(arguments, report)
    if arguments.json:
        say_json(report)
    return report
