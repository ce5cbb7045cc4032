# SPDX-License-Identifier: GPL-3.0-or-later
"""``improvise``: characters that move by themselves, like a library of motion."""

import argparse

from ..subverbs import add_subverbs, run_subverb
from ..verb import Verb

_VERBS = {
    "train": "learn from a library to move like it by itself",
    "bake": "make takes of any number of characters that improvise",
    "task": "let what improvises learn a task, moving as it does",
    "test": "let characters improvise, and say how long they stay up and how much of the library they show",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    add_subverbs(parser, __package__, _VERBS)


VERB = Verb(_add_arguments, run_subverb)
