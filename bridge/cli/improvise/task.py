# SPDX-License-Identifier: GPL-3.0-or-later
"""``improvise task``: what improvises learns a task in its latent space."""

import argparse

from ....core.control.improvise.learned_file import IMPROVISER
from ....core.control.improvise.task_method import ImproviseTask
from ....core.control.tasks.tasks_table import get_task, task_names
from ...api.learning import learn_task
from ..learning import add_learning_arguments, finish_learning, learning_request, require_learned_out
from ..lines import path_argument
from ..running import run_job
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("task", metavar="NAME", help=f"what is learned: {', '.join(task_names())}")
    add("file", type=path_argument, metavar=f"FILE{IMPROVISER.ending}", help="what 'sinew improvise train' wrote")
    add("--out", type=path_argument, metavar=f"FILE{IMPROVISER.ending}", help="the improviser with its task, to write")
    add_learning_arguments(parser, ImproviseTask.name, "task", minutes="stop there and keep the best")


def _run(arguments: argparse.Namespace) -> int:
    """Train in a worker, and write what was learned."""
    arguments.task = get_task(arguments.task).name
    request = learning_request(arguments, ImproviseTask.name, ("task", "minutes"))
    require_learned_out(arguments, IMPROVISER.name)
    settings = {name: value for name, value in request.settings.items() if name != "task"}
    if not any(text.partition("=")[0].strip() == "sigma" for text in arguments.set):
        del settings["sigma"]  # as far as the task asks for
    job = learn_task(
        arguments.task,
        arguments.file,
        engine=request.engine,
        seed=request.seed,
        folder=arguments.job_dir,
        **settings,
    ).job
    if code := run_job(arguments, job, input=str(arguments.file)):
        return code
    finish_learning(arguments, job, IMPROVISER.name)
    return 0


VERB = Verb(_add_arguments, _run)
