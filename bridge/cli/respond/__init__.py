# SPDX-License-Identifier: GPL-3.0-or-later
"""``respond``: a library of motion does deeds on cue."""

import argparse

from ..subverbs import add_subverbs, run_subverb
from ..verb import Verb

_VERBS = {
    "train": "teach a network to do a library's deeds in a given time",
    "bake": "make a take that does what cues ask for: a deed at a frame, perhaps at a place",
    "test": "ask for deeds or directions at random, and count how many are done on time",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    add_subverbs(parser, __package__, _VERBS)


VERB = Verb(_add_arguments, run_subverb)
