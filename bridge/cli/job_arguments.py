# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command line says about the job, the same for every verb that runs one: engine, seed, settings and folder."""

import argparse

from ...core.errors import SinewError
from ...core.jobs import HERE, Where, parse_where
from .lines import path_argument


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Declare the engine that simulates."""
    parser.add_argument("--engine", default="auto", help="auto, mujoco or bullet (default auto: the fastest installed)")


def add_seed(parser: argparse.ArgumentParser, result: str) -> None:
    """Declare the seed; ``result``: what is the same where the seed is, such as 'motion'."""
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=f"same seed, same {result} (default 0)")


def add_settings(parser: argparse.ArgumentParser, which: str) -> None:
    """Declare settings; ``which``: of what they are, such as 'of training', or their names."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help=f"a setting {which}; may be repeated"
    )


def add_job_folder(parser: argparse.ArgumentParser) -> None:
    """Declare a folder of the job's own."""
    parser.add_argument(
        "--job-dir",
        type=path_argument,
        metavar="DIR",
        help="keep the job in this folder; run again to go on after a kill",
    )
    add_where(parser)


def add_where(parser: argparse.ArgumentParser) -> None:
    """Declare where the work is done."""
    parser.add_argument(
        "--where",
        type=_where,
        default=HERE,
        metavar="PLACE",
        help="here (default), ray (a Ray cluster that runs on this computer, or one that is started for it), or "
        "ray:HOST:PORT; see docs/cluster.md",
    )


def _where(text: str) -> Where:
    try:
        return parse_where(text)
    except SinewError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
