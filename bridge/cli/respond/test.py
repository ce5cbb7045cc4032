# SPDX-License-Identifier: GPL-3.0-or-later
"""``respond test``: ask a library for this and that at random, and say how much of it is done on time."""

import argparse
from typing import Any

from ....core.control.respond.test_method import RespondTest
from ...api.learning import measure_responder
from ..learning import add_learning_arguments, finish_test, learning_request
from ..lines import indented, path_argument, say
from ..outputs import require_outputs
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
    add_learning_arguments(parser, RespondTest.name, "trials")


def _run(arguments: argparse.Namespace) -> int:
    """Test in a worker; what is late is no error."""
    arguments.physics = "true" if arguments.physics == "on" else "false"
    request = learning_request(arguments, RespondTest.name, ("tau", "trials", "task", "physics"))
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    job = measure_responder(
        arguments.file, engine=request.engine, seed=request.seed, folder=arguments.job_dir, **request.settings
    ).job
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    report = finish_test(arguments, job)
    if not arguments.json:
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
