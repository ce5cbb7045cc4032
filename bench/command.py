# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench``: what things cost here, as JSON. Machines differ, so compare figures of one run only."""

import argparse
import json
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from ..bridge import cli
from ..bridge.cli.verb import Verb
from ..core.errors import BadSettings

SUMMARY = "measure, and print the figures as JSON"

# name -> module and function that returns a JSON-able dictionary. A module that has ``add_arguments(parser)`` declares
# arguments of its own, and its function is given them; the others' take none.
_BENCHES = {
    "bridge": ".bridge:measure",
    "jobs": ".jobs:measure",
    "bodies": ".bodies:measure",
    "overlay": ".overlay:measure",
    "interface": ".interface.command:measure",
    "engines": ".engines:measure",
    "simulate": ".simulate.command:measure",
    "graph": ".graph.command:measure",
    "bounds": ".bounds.command:measure",
    "characters": ".characters.command:measure",
    "travel": ".travel:measure",
    "direct": ".direct:measure",
    "respond": ".respond:measure",
    "live": ".live:measure",
    "improvise": ".improvise:measure",
    "scale": ".scale:measure",
    "timeline": ".timeline:measure",
}
# These take many minutes, some an hour, and so only run when they are asked for by name.
_LONG = (
    *("simulate", "graph", "bounds", "characters", "travel", "direct", "respond", "live", "improvise", "scale"),
    "timeline",
)


def main(argv: Sequence[str]) -> int:
    """The command line with this verb: ``main(["bench", "jobs"])``."""
    return cli.main(argv, {"bench": __name__})


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    short = [name for name in _BENCHES if name not in _LONG]
    names = f"one of: {', '.join(_BENCHES)}; if left out, {', '.join(short)}"
    parser.add_argument("name", nargs="?", metavar="NAME", help=names)
    parser.add_argument("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")
    parser.add_argument(
        "options",
        nargs=argparse.REMAINDER,
        metavar="…",
        help="the benchmark's own; see 'bench simulate --help' and 'bench graph --help'",
    )


def _run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    names = [arguments.name] if arguments.name else [name for name in _BENCHES if name not in _LONG]
    unknown = [name for name in names if name not in _BENCHES]
    if unknown:
        raise BadSettings(f"There is no benchmark '{unknown[0]}'", f"Choose one of: {', '.join(_BENCHES)}")
    found = {}
    for name in names:
        module, _, function = _BENCHES[name].partition(":")
        benchmark = import_module(module, __package__)
        try:
            own = _own_arguments(name, benchmark, arguments.options)
        except SystemExit as stop:  # argparse leaves; inside Blender the exit code must be returned
            return stop.code if isinstance(stop.code, int) else 2
        found[name] = _measure(getattr(benchmark, function), own)
    print(json.dumps(found, indent=2))
    return 0


def _own_arguments(name: str, benchmark: ModuleType, options: list[str]) -> argparse.Namespace | None:
    """What stands after the benchmark's name, read as it wants it; None for one that takes no arguments."""
    parser = argparse.ArgumentParser(prog=f"sinew bench {name}", description=benchmark.__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")
    declare = getattr(benchmark, "add_arguments", None)
    if declare is not None:
        declare(parser)
    own = parser.parse_args(options)
    return own if declare is not None else None


def _measure(function: Any, own: argparse.Namespace | None) -> dict[str, Any]:
    return function() if own is None else function(own)


VERB = Verb(_add_arguments, _run)
