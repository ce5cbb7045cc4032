# SPDX-License-Identifier: GPL-3.0-or-later
"""``direct``: a library of motion goes where it is told."""

import argparse

from ..subverbs import add_subverbs, run_subverb
from ..verb import Verb

_VERBS = {
    "train": "practise a library's motion with a body, until it keeps its feet whatever it is told",
    "bake": "make a take that goes along a curve or points, at a speed and in a style, with a body or without",
    "test": "tell a trained library this and that at random, and count how often it falls",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    add_subverbs(parser, __package__, _VERBS)


VERB = Verb(_add_arguments, run_subverb)
