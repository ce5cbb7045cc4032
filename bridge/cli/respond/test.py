# SPDX-License-Identifier: GPL-3.0-or-later
"""``respond test``: ask a library for this and that at random, and say how much of it is done on time."""

import argparse
from typing import Any

from ....core.control import registry
from ....core.control.respond.learned_file import responding_skeleton
from ....core.control.respond.test_method import RespondTest
from ...direct.training import make_policy_job
from ...learned.learned_file import learned_file
from ...methods.job_inputs import FamilyRequest
from ..job_arguments import add_engine, add_job_folder, add_seed, add_settings
from ..lines import indented, path_argument, say, say_json
from ..outputs import require_outputs, write_report
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="LIBRARY", help="the library, as 'sinew library build' writes it")
    add("--tau", type=float, metavar="T", help="within how many seconds (default 0.5); the same as --set tau=T")
    add("--trials", type=int, metavar="N", help="how often (default 300); the same as --set trials=N")
    add("--task", choices=("auto", "deeds", "direction"), help="what is asked for (default auto: deeds, if any)")
    add("--physics", choices=("on", "off"), default="on", help="off: the motion without a body (default on)")
    add_engine(parser)
    add_seed(parser, "trials")
    add_settings(parser, f"of these: {', '.join(RespondTest.settings_type.field_names())}")
    add("--json", action="store_true", help="print the report")
    add("--report", type=path_argument, metavar="FILE.json", help="write what was done and measured")
    add_job_folder(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Test in a worker; what is late is no error."""
    names = {name: getattr(arguments, name) for name in ("tau", "trials", "task")}
    texts = [*arguments.set, *(f"{name}={value}" for name, value in names.items() if value is not None)]
    texts.append(f"physics={'true' if arguments.physics == 'on' else 'false'}")
    method = registry.get_method(RespondTest.name)
    request = FamilyRequest("", method.settings_type.from_texts(texts).to_mapping(), arguments.engine, arguments.seed)
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    learned = learned_file("respond").read_file(arguments.file.resolve())
    skeleton = responding_skeleton(learned.model)
    job = make_policy_job(method, request, learned, folder=arguments.job_dir, skeleton=skeleton)
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    job.mark_collected({})
    told = job.report()
    report = {**told, **told["test"], "input": str(arguments.file)}
    write_report(arguments, report)
    if arguments.json:
        say_json(report)
    else:
        share = f"{100 * report['on_time']:.1f} % of {report['trials']} within {report['tau_s']:g} s"
        say(*indented(f"{arguments.file}: {share}", _lines(report)))
    return 0


def _lines(report: dict[str, Any]) -> list[str]:
    """The same for each deed or style."""
    lines = []
    if report["physics"] and report["on_time_of_kinematic"] is not None:
        share = 100 * report["on_time_of_kinematic"]
        lines.append(f"{share:.1f} % of what is on time without a body; {report['falls']} after a fall")
    for name, one in report["by_name"].items():
        mean = "" if one["mean_ttc_s"] is None else f", after {one['mean_ttc_s']:.2f} s on average"
        lines.append(f"{name:<12} {100 * one['on_time']:5.1f} % of {one['trials']}{mean}")
    return lines


VERB = Verb(_add_arguments, _run)
