# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs below a verb, one a module: ``sinew graph learn``, ``sinew bounds train``."""

import argparse
from collections.abc import Mapping
from importlib import import_module


def add_subverbs(parser: argparse.ArgumentParser, package: str, summaries: Mapping[str, str]) -> None:
    """Declare the modules of ``package`` as verbs, each with its summary; ``run_subverb`` then runs the chosen one."""
    verbs = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for name, summary in summaries.items():
        verb = verbs.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        module = import_module(f".{name}", package)
        module.VERB.add_arguments(verb)
        verb.set_defaults(do=module.VERB.run)


def run_subverb(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    return int(arguments.do(arguments))
