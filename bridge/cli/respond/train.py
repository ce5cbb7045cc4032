# SPDX-License-Identifier: GPL-3.0-or-later
"""``respond train``: from a library to one with a student, which does its deeds in a given time without it."""

import argparse

from ....core.control.respond.learned_file import RESPONDER
from ....core.control.respond.train_method import RespondTrain
from ...api.learning import train_responder
from ..learning import add_learning_arguments, finish_learning, learning_request, require_learned_out
from ..lines import path_argument
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="LIBRARY", help="the library, as 'sinew library build' writes it")
    add("--out", type=path_argument, metavar=f"FILE{RESPONDER.ending}", help="the library with its student, to write")
    add_learning_arguments(parser, RespondTrain.name, "student", minutes="stop learning then", engine=False)


def _run(arguments: argparse.Namespace) -> int:
    """Train in a worker, and write what was learned."""
    request = learning_request(arguments, RespondTrain.name, engine="auto")
    require_learned_out(arguments, RESPONDER.name)
    job = train_responder(arguments.file, seed=request.seed, folder=arguments.job_dir, **request.settings).job
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    finish_learning(arguments, job, RESPONDER.name)
    return 0


VERB = Verb(_add_arguments, _run)
