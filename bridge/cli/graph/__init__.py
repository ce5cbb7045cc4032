# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph``: clips become skills that keep their balance, skills link into a graph, and a graph makes new motion."""

import argparse

from ..subverbs import add_subverbs, run_subverb
from ..verb import Verb

_VERBS = {
    "learn": "learn skills and the transitions between them, and write a graph file",
    "bake": "make a new motion from a graph file: a sequence, a random walk, a path, a pushed run, a collision",
    "show": "print what is in a graph file",
    "test": "push what was learned, let it run and walk about, and print how much it takes, as JSON",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    add_subverbs(parser, __package__, _VERBS)


VERB = Verb(_add_arguments, run_subverb)
