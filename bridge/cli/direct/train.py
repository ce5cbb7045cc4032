# SPDX-License-Identifier: GPL-3.0-or-later
"""``direct train``: from a library to one that keeps its feet, or from one that was trained to a better one."""

import argparse

from ....core.control.direct.train_method import DirectTrain
from ....core.control.tracking_policy.learned_file import DIRECTED
from ...api.learning import train_director
from ..learning import add_learning_arguments, finish_learning, learning_request, require_learned_out
from ..lines import path_argument
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="LIBRARY", help="a library, or one that was trained, to go on with")
    add("--out", type=path_argument, metavar=f"FILE{DIRECTED.ending}", help="the library with its policy, to write")
    add("--begin", type=path_argument, metavar="FILE", help="another character's trained library to begin with")
    add_learning_arguments(parser, DirectTrain.name, "policy", minutes="stop there and keep the best")


def _run(arguments: argparse.Namespace) -> int:
    """Train in a worker, and write what was learned."""
    request = learning_request(arguments, DirectTrain.name)
    require_learned_out(arguments, DIRECTED.name)
    job = train_director(
        arguments.file,
        begin=arguments.begin,
        engine=request.engine,
        seed=request.seed,
        folder=arguments.job_dir,
        **request.settings,
    ).job
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    finish_learning(arguments, job, DIRECTED.name)
    return 0


VERB = Verb(_add_arguments, _run)
