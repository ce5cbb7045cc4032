# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench``: what things cost here, as JSON. Machines differ, so compare figures of one run only."""

import argparse
import json
from importlib import import_module
from typing import Any

from ...core.errors import BadSettings

# name -> module and function without arguments that returns a JSON-able dictionary
_BENCHES = {
    "bridge": "..bench_bridge:measure",
    "jobs": "...core.measure.bench_jobs:measure",
    "bodies": "..bench_bodies:measure",
    "engines": "...core.measure.bench_engines:measure",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"one of: {', '.join(_BENCHES)}; all if left out")
    parser.add_argument("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    names = [arguments.name] if arguments.name else list(_BENCHES)
    unknown = [name for name in names if name not in _BENCHES]
    if unknown:
        raise BadSettings(f"There is no benchmark '{unknown[0]}'", f"Choose one of: {', '.join(_BENCHES)}")
    print(json.dumps({name: _measure(name) for name in names}, indent=2))
    return 0


def _measure(name: str) -> dict[str, Any]:
    module, _, function = _BENCHES[name].partition(":")
    return getattr(import_module(module, __package__), function)()
