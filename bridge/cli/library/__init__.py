# SPDX-License-Identifier: GPL-3.0-or-later
"""``library``: minutes of motion on one character, prepared once, with tags that say which frames are which style."""

import argparse

from ..subverbs import add_subverbs, run_subverb
from ..verb import Verb

_VERBS = {
    "build": "make a library of motion files; one that is there already is brought up to date",
    "add": "add motion files to a library; only they are prepared",
    "show": "print what is in a library, or draw it",
    "join": "make ways from clip to clip, where none lead there by themselves",
    "tag": "give frames of a clip a style tag",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    add_subverbs(parser, __package__, _VERBS)


VERB = Verb(_add_arguments, run_subverb)
