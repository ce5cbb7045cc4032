# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds``: a motion is learned within spacetime bounds, and what was learned makes takes of any length."""

import argparse
from importlib import import_module

_VERBS = {
    "train": "learn a motion within its bounds, and write a controller file",
    "styles": "learn one motion in several styles from one controller, and write a controller file of each",
    "bake": "make a new motion with a controller file: clean or pushed, and of any length if it is a cycle",
    "test": "see how long a controller stays within its bounds by itself, and print it as JSON",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs below this one."""
    verbs = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for name, summary in _VERBS.items():
        verb = verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        module = import_module(f".{name}", __package__)
        module.add_arguments(verb)
        verb.set_defaults(do=module.run)


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    return int(arguments.do(arguments))
