# SPDX-License-Identifier: GPL-3.0-or-later
"""``respond train``: from a library to one with a student, which does its deeds in a given time without it."""

import argparse

from ....core import jobs
from ....core.control import registry
from ....core.control.respond.learned_file import RESPONDER, responding_skeleton
from ....core.control.respond.train_method import RespondTrain
from ....core.errors import BadSettings, JobError
from ...direct.training import make_policy_job
from ...learned.learned_file import learned_file
from ...methods.job_inputs import FamilyRequest
from ..job_arguments import add_job_folder, add_seed, add_settings
from ..library.build import require_library_name
from ..lines import indented, path_argument, say, say_json
from ..outputs import require_outputs, write_report
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="LIBRARY", help="the library, as 'sinew library build' writes it")
    add("--out", type=path_argument, metavar=f"FILE{RESPONDER.ending}", help="the library with its student, to write")
    add("--minutes", type=float, metavar="M", help="stop learning then; the same as --set minutes=M")
    add_seed(parser, "student")
    add_settings(parser, f"of these: {', '.join(RespondTrain.settings_type.field_names())}")
    add("--json", action="store_true", help="print the report")
    add("--report", type=path_argument, metavar="FILE.json", help="write what was done and measured")
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Train in a worker, and write what was learned."""
    method = registry.get_method(RespondTrain.name)
    texts = [*arguments.set, *([] if arguments.minutes is None else [f"minutes={arguments.minutes}"])]
    request = FamilyRequest("", method.settings_type.from_texts(texts).to_mapping(), "auto", arguments.seed)
    _require_out(arguments)
    file = learned_file("respond")
    learned = file.read_file(arguments.file.resolve())
    skeleton = responding_skeleton(learned.model)
    job = make_policy_job(method, request, learned, folder=arguments.job_dir, skeleton=skeleton)
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    if file.keep(job, arguments.out.resolve()) is None:
        raise JobError(f"Job '{job.spec.title}' has learned nothing", "Train it again in another folder")
    _finish(arguments, job)
    return 0


def _require_out(arguments: argparse.Namespace) -> None:
    """Find out now, not after half an hour, that nothing could be written; the library itself is never written over."""
    if arguments.out is None:
        raise BadSettings("There is no place for what is learned", f"Give --out FILE{RESPONDER.ending}")
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
    file = learned_file("respond")
    sentences = file.kind.describe(file.read_file(arguments.out.resolve()).model)
    say(*indented(f"{arguments.out}: trained in {report['wall_s']:.0f} s", sentences))


VERB = Verb(_add_arguments, _run)
