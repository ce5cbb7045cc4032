# SPDX-License-Identifier: GPL-3.0-or-later
"""``direct test``: tell a trained library this and that at random, and say how often it falls and how it follows."""

import argparse
from typing import Any

from ....core.control.direct.test_method import DirectTest
from ....core.control.tracking_policy.learned_file import TrainedDirector
from ....core.errors import NotLearned
from ...api.learning import measure_director
from ...learned.learned_file import learned_file
from ..learning import add_learning_arguments, finish_test, learning_request
from ..lines import indented, path_argument, say
from ..outputs import require_outputs
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("file", type=path_argument, metavar="LIBRARY", help="what 'sinew direct train' wrote")
    add_learning_arguments(parser, DirectTest.name, "wishes", minutes="how long it is directed (default 10)")


def _run(arguments: argparse.Namespace) -> int:
    """Test in a worker; falls are no error."""
    request = learning_request(arguments, DirectTest.name)
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    learned = learned_file("direct").read_file(arguments.file.resolve())
    if not isinstance(learned.model, TrainedDirector):
        raise NotLearned(
            f"The library in '{arguments.file}' has no policy to test", "Train it first, with 'sinew direct train'"
        )
    job = measure_director(
        learned, engine=request.engine, seed=request.seed, folder=arguments.job_dir, **request.settings
    ).job
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    report = finish_test(arguments, job)
    if not arguments.json:
        say(*indented(f"{arguments.file}: {report['falls']} falls in {report['minutes']:.1f} minutes", _lines(report)))
    return 0


def _lines(report: dict[str, Any]) -> list[str]:
    """The other figures in words; one that could not be measured is left out."""
    words = {
        "joint_error_m": "joints are {:.3f} m from the motion, relative to the root",
        "skate_m_s": "feet that stand slide by {:.3f} m/s",
        "turn_90_s": "a heading of 90 degrees is reached in {:.2f} s",
    }
    return [text.format(report[name]) for name, text in words.items() if report.get(name) is not None]


VERB = Verb(_add_arguments, _run)
