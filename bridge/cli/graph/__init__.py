# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph``: clips become skills that keep their balance, skills link into a graph, and a graph makes new motion."""

import argparse
from importlib import import_module

_VERBS = {
    "learn": "learn skills and the transitions between them, and write a graph file",
    "bake": "make a new motion from a graph file: a sequence, a random walk, a path, a pushed run, a collision",
    "show": "print what is in a graph file",
    "test": "push what was learned, let it run and walk about, and print how much it takes, as JSON",
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
