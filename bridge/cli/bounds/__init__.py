# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds``: a motion is learned within spacetime bounds, and what was learned makes takes of any length."""

import argparse

from ..subverbs import add_subverbs, run_subverb
from ..verb import Verb

_VERBS = {
    "train": "learn a motion within its bounds, and write a controller file",
    "styles": "learn one motion in several styles from one controller, and write a controller file of each",
    "bake": "make a new motion with a controller file: clean or pushed, and of any length if it is a cycle",
    "test": "see how long a controller stays within its bounds by itself, and print it as JSON",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    add_subverbs(parser, __package__, _VERBS)


VERB = Verb(_add_arguments, run_subverb)
