# SPDX-License-Identifier: GPL-3.0-or-later
"""``improvise train``: from a library, trained or not, to a character that moves like it by itself."""

import argparse

from ....core.control.improvise.learned_file import IMPROVISER
from ....core.control.improvise.train_method import ImproviseTrain
from ...api.learning import train_improviser
from ..learning import add_learning_arguments, finish_learning, learning_request, require_learned_out
from ..lines import path_argument
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="LIBRARY", help="a library; one that 'sinew direct train' wrote is quicker")
    add("--out", type=path_argument, metavar=f"FILE{IMPROVISER.ending}", help="the improviser to write")
    add_learning_arguments(parser, ImproviseTrain.name, "improviser", minutes="stop there and keep the best")


def _run(arguments: argparse.Namespace) -> int:
    """Train in a worker, and write what was learned."""
    request = learning_request(arguments, ImproviseTrain.name)
    require_learned_out(arguments, IMPROVISER.name)
    job = train_improviser(
        arguments.file, engine=request.engine, seed=request.seed, folder=arguments.job_dir, **request.settings
    ).job
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    finish_learning(arguments, job, IMPROVISER.name)
    return 0


VERB = Verb(_add_arguments, _run)
