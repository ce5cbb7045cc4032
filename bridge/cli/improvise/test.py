# SPDX-License-Identifier: GPL-3.0-or-later
"""``improvise test``: how long characters that improvise stay up, and how much of the library they show."""

import argparse
from typing import Any

from ....core.control.improvise.test_method import ImproviseTest
from ...api.learning import measure_improviser
from ..learning import add_learning_arguments, finish_test, learning_request
from ..lines import indented, path_argument, say
from ..outputs import require_outputs
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="FILE", help="what 'sinew improvise train' or 'task' wrote")
    add("--rollouts", type=int, metavar="N", help="how many characters (default 100); the same as --set rollouts=N")
    add("--seconds", type=float, metavar="T", help="how long, at most (default 60); the same as --set seconds=T")
    add_learning_arguments(parser, ImproviseTest.name, "rollouts")


def _run(arguments: argparse.Namespace) -> int:
    """Test in a worker; falls are no error."""
    request = learning_request(arguments, ImproviseTest.name, ("rollouts", "seconds"))
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    job = measure_improviser(
        arguments.file, engine=request.engine, seed=request.seed, folder=arguments.job_dir, **request.settings
    ).job
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    report = finish_test(arguments, job)
    if not arguments.json:
        found = [finding["message"] for finding in report["findings"] if finding["kind"] == "test"]
        say(*indented(f"{arguments.file}:", [*found, *_lines(report)]))
    return 0


def _lines(report: dict[str, Any]) -> list[str]:
    """The styles, of a test without a task."""
    return [
        f"{name:<10} {100 * one['time']:5.1f} % of the time, {100 * one['library']:5.1f} % of the library"
        for name, one in report.get("styles", {}).items()
    ]


VERB = Verb(_add_arguments, _run)
