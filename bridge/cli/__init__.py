# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: the same verbs from ``./sinew VERB`` and from ``blender -b FILE -c sinew VERB``.

Each verb is a file with ``add_arguments(parser)`` and ``run(arguments) -> int``, imported when it is used.
Exit codes: 0 done, 1 failed with a one-line error, 2 wrong usage, 130 cancelled.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from ...core.control import registry
from ...core.errors import SinewError

CANCELLED = 130

_VERBS = {
    "demo": "simulate the stock walk on the mannequin and show the result",
    "simulate": "simulate an armature's Action and bake the result as a new Action",
    "graph": "learn skills that keep their balance, and make new motion from them",
    "bounds": "learn a motion within spacetime bounds, and make takes with what was learned",
    "takes": "list the takes in a .blend, with their numbers",
    "clips": "list the stock clips",
    "jobs": "list, show, cancel, resume and clean up jobs",
}


def main(argv: Sequence[str], others: Mapping[str, str] | None = None) -> int:
    """Run one verb; a ``SinewError`` becomes one line on standard error.

    others: verb -> absolute module name, of verbs that are not shipped; they have their ``SUMMARY`` themselves.
    """
    parser = argparse.ArgumentParser(prog="sinew", description="Gives mocap a body.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    # Only the verb in use is imported: the others would bring Blender's importers with them.
    wanted = next((word for word in argv if not word.startswith("-")), "")
    modules = {name: f"{__package__}.{name}" for name in _VERBS} | dict(others or {})
    declared = {one.name: one for one in registry.families() if one.name not in _VERBS}
    for name in (*modules, *declared):
        module = import_module(modules.get(name, f"{__package__}.family")) if name == wanted else None
        summary = _VERBS.get(name) or (declared[name].help if name in declared else module.SUMMARY if module else "")
        about = argparse.SUPPRESS if name in declared and declared[name].is_example else summary
        verb = verbs.add_parser(name, help=about, description=summary[:1].upper() + summary[1:] + ".")
        if module is not None:
            module.add_arguments(verb, *([declared[name]] if name in declared else []))
            verb.set_defaults(run=module.run)
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:  # argparse leaves; inside Blender the exit code must be returned
        return stop.code if isinstance(stop.code, int) else 2
    try:
        return int(arguments.run(arguments))
    except SinewError as error:
        print(f"sinew: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("sinew: cancelled", file=sys.stderr)
        return CANCELLED
    except BrokenPipeError:  # the reader of our output has gone: `./sinew clips | head`
        sys.stderr.close()
        return 0
