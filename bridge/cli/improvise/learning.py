# SPDX-License-Identifier: GPL-3.0-or-later
"""What learning and testing are asked with, the same for every verb of ``improvise`` that needs no scene."""

import argparse
from pathlib import Path

from ....core import jobs
from ....core.control import registry
from ....core.control.improvise.learned_file import IMPROVISER
from ....core.errors import BadSettings, JobError
from ...learned.learned_file import Learned, learned_file
from ...methods.job_inputs import FamilyRequest
from ..job_arguments import add_engine, add_job_folder, add_seed, add_settings
from ..lines import indented, path_argument, say, say_json
from ..outputs import require_outputs, write_report


def add_learning_arguments(parser: argparse.ArgumentParser, method: str, result: str) -> None:
    """Declare them. method: its name; result: what is the same where the seed is."""
    add = parser.add_argument
    add_engine(parser)
    add_seed(parser, result)
    add_settings(parser, f"of these: {', '.join(registry.get_method(method).settings_type.field_names())}")
    add("--json", action="store_true", help="print the report")
    add("--report", type=path_argument, metavar="FILE.json", help="write what was done and measured")
    add_job_folder(parser)


def learning_request(arguments: argparse.Namespace, method: str, words: tuple[str, ...]) -> FamilyRequest:
    """What is asked for; words: arguments that are settings too. A wrong one is refused before anything is opened."""
    given = {name: getattr(arguments, name) for name in words}
    texts = [*arguments.set, *(f"{name}={value}" for name, value in given.items() if value is not None)]
    settings = registry.get_method(method).settings_type.from_texts(texts).to_mapping()
    return FamilyRequest("", settings, arguments.engine, arguments.seed)


def require_learned_out(arguments: argparse.Namespace) -> None:
    """Find out now, not after an hour, that nothing could be written; what is learned from is never written over."""
    out: Path | None = arguments.out
    if out is None:
        raise BadSettings("There is no place for what is learned", f"Give --out FILE{IMPROVISER.ending}")
    if out.resolve() == arguments.file.resolve():
        raise BadSettings(f"'{out}' is what is learned from", "Give --out another name")
    arguments.preview = []
    # Whatever it is called, it is a file of arrays.
    require_outputs(arguments, out.suffix.lower())


def read_improviser(path: Path) -> Learned:
    """An improviser's file."""
    return learned_file(IMPROVISER.name).read_file(path.resolve())


def finish_learning(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """Keep what was learned where it was asked for, and say how it went."""
    file = learned_file(IMPROVISER.name)
    if file.keep(job, arguments.out.resolve()) is None:
        raise JobError(f"Job '{job.spec.title}' has learned nothing", "Train it again in another folder")
    job.mark_collected({"file": arguments.out.name})
    report = {**job.report(), "input": str(arguments.file), "out": str(arguments.out)}
    write_report(arguments, report)
    if arguments.json:
        say_json(report)
        return
    sentences = file.kind.describe(read_improviser(arguments.out).model)
    found = [finding["message"] for finding in report.get("findings", ())]
    say(*indented(f"{arguments.out}: trained in {report['wall_s']:.0f} s", [*sentences, *found]))
