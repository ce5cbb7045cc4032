# SPDX-License-Identifier: GPL-3.0-or-later
"""``direct train``: from a library to one that keeps its feet, or from one that was trained to a better one."""

import argparse

from ....core import jobs
from ....core.control.direct.learned_file import DIRECTED
from ....core.control.direct.train_method import DirectTrain
from ....core.errors import BadSettings, JobError
from ...learned.learned_file import learned_file
from ..library.build import require_library_name
from ..lines import indented, path_argument, say, say_json
from ..outputs import require_outputs, write_report
from ..running import run_job
from ..verb import Verb
from .policy_arguments import add_policy_arguments, policy_job, policy_request


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="LIBRARY", help="a library, or one that was trained, to go on with")
    add("--out", type=path_argument, metavar=f"FILE{DIRECTED.ending}", help="the library with its policy, to write")
    add_policy_arguments(parser, DirectTrain.name, "policy", minutes="stop there and keep the best")


def _run(arguments: argparse.Namespace) -> int:
    """Train in a worker, and write what was learned."""
    request = policy_request(arguments, DirectTrain.name)
    _require_out(arguments)
    file = learned_file("direct")
    learned = file.read_file(arguments.file.resolve())
    job = policy_job(arguments, DirectTrain.name, request, learned)
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    if file.keep(job, arguments.out.resolve()) is None:
        raise JobError(f"Job '{job.spec.title}' has learned nothing", "Train it again in another folder")
    _finish(arguments, job)
    return 0


def _require_out(arguments: argparse.Namespace) -> None:
    """Find out now, not after an hour, that nothing could be written; the library itself is never written over."""
    if arguments.out is None:
        raise BadSettings("There is no place for what is learned", f"Give --out FILE{DIRECTED.ending}")
    require_library_name(arguments.out)
    if arguments.out.resolve() == arguments.file.resolve():
        raise BadSettings(f"'{arguments.out}' is the library that is trained", "Give --out another name")
    arguments.preview = []
    require_outputs(arguments, ".npz")


def _finish(arguments: argparse.Namespace, job: jobs.Job) -> None:
    """Report how it was trained, and what the file has in it now."""
    job.mark_collected({"file": arguments.out.name})
    report = {**job.report(), "input": str(arguments.file), "out": str(arguments.out)}
    write_report(arguments, report)
    if arguments.json:
        say_json(report)
        return
    file = learned_file("direct")
    sentences = file.kind.describe(file.read_file(arguments.out.resolve()).model)
    say(*indented(f"{arguments.out}: trained in {report['wall_s']:.0f} s", sentences))


VERB = Verb(_add_arguments, _run)
