# SPDX-License-Identifier: GPL-3.0-or-later
"""What training a policy and testing one are asked with, and the job that either is."""

import argparse

from ....core import jobs
from ....core.control import registry
from ...direct.training import make_policy_job
from ...learned.learned_file import Learned
from ...methods.job_inputs import FamilyRequest
from ..job_arguments import add_engine, add_job_folder, add_seed, add_settings
from ..lines import path_argument


def add_policy_arguments(parser: argparse.ArgumentParser, method: str, result: str, *, minutes: str) -> None:
    """Declare them. method: its name; result: what is the same where the seed is; minutes: what they are for."""
    add = parser.add_argument
    add("--minutes", type=float, metavar="M", help=f"{minutes}; the same as --set minutes=M")
    add_engine(parser)
    add_seed(parser, result)
    add_settings(parser, f"of these: {', '.join(registry.get_method(method).settings_type.field_names())}")
    add("--json", action="store_true", help="print the report")
    add("--report", type=path_argument, metavar="FILE.json", help="write what was done and measured")
    add_job_folder(parser)


def policy_request(arguments: argparse.Namespace, method: str) -> FamilyRequest:
    """What is asked for; a wrong setting is refused before anything is opened."""
    texts = [*arguments.set, *([] if arguments.minutes is None else [f"minutes={arguments.minutes}"])]
    settings = registry.get_method(method).settings_type.from_texts(texts).to_mapping()
    return FamilyRequest("", settings, arguments.engine, arguments.seed)


def policy_job(arguments: argparse.Namespace, method: str, request: FamilyRequest, learned: Learned) -> jobs.Job:
    """The job, in the folder that was given for it."""
    return make_policy_job(registry.get_method(method), request, learned, folder=arguments.job_dir)
