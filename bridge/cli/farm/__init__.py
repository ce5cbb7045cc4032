# SPDX-License-Identifier: GPL-3.0-or-later
"""``farm``: takes of a scene as tasks of a render farm, each of which can be run again by itself."""

import argparse

from ..subverbs import add_subverbs, run_subverb
from ..verb import Verb

_VERBS = {
    "export": "write a job for a farm: takes of a scene, their merging into one .blend, and rendering",
    "take": "make one take of a scene, as a task of a farm does",
    "merge": "bake takes that were made apart beside each other into one .blend",
}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    add_subverbs(parser, __package__, _VERBS)


VERB = Verb(_add_arguments, run_subverb)
