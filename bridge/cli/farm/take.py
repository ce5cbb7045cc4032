# SPDX-License-Identifier: GPL-3.0-or-later
"""``farm take``: one take, made into files of its own; run again, it makes the same again or goes on with it."""

import argparse

from ....core.errors import BadSettings
from ....core.interrupts import interrupt_on_terminate
from .. import simulate
from ..lines import path_argument
from ..verb import Verb
from .take_options import add_take_options, read_options, simulate_arguments


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("number", type=int, metavar="K", help="which of the takes, from 1 on")
    add("--scene", metavar="FILE.blend", help="inside Blender it may be left out for the open scene")
    add(
        "--results",
        type=path_argument,
        required=True,
        metavar="FOLDER",
        help="gets takes/K.blend, takes/K.json, and the job in takes/K",
    )
    add("--encoded", action="store_true", help="values are written with escapes such as %%7B, as a farm may need it")
    add_take_options(parser)


def _run(arguments: argparse.Namespace) -> int:
    """Simulate it as ``simulate --variations N --only K`` does."""
    number, takes = arguments.number, arguments.takes
    if not 1 <= number <= takes:
        raise BadSettings(f"There is no take {number} of {takes}", "Give a number from 1 to that of --takes")
    home = arguments.results.resolve() / "takes"
    words = [f"--only={number}", f"--job-dir={home / str(number)}", "--anew"]
    words += [f"--out={home / f'{number}.blend'}", f"--report={home / f'{number}.json'}"]
    words += [arguments.scene] if arguments.scene else []
    options = read_options(arguments, encoded=arguments.encoded)
    with interrupt_on_terminate():
        return simulate.VERB.run(simulate_arguments(options, takes, arguments.seed, words))


VERB = Verb(_add_arguments, _run)
