# SPDX-License-Identifier: GPL-3.0-or-later
"""What a verb of the command line is: each module of one has it as its ``VERB``."""

import argparse
from collections.abc import Callable
from typing import NamedTuple


class Verb(NamedTuple):
    """add_arguments: declares the verb's arguments on a parser, for a family's verb with the family besides.

    run: does what parsed arguments ask for, and gives the exit code.
    """

    add_arguments: Callable[..., None]
    run: Callable[[argparse.Namespace], int]
