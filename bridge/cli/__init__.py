# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: the same verbs from ``./sinew VERB`` and from ``blender -b FILE -c sinew VERB``.

Each verb is a module with its ``VERB`` (``verb.py``), imported when it is used.
Exit codes: 0 done, 1 failed with a one-line error, 2 wrong usage, 130 cancelled.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module

from ...core.control import registry
from ...core.errors import SinewError
from ...core.interrupts import INTERRUPTED, finish_first, leave_on_interrupt, raise_on_interrupt
from ..scene.console_log import log_in_lines
from .lines import LineParser, prepare_streams, require_words, say_aside

CANCELLED = INTERRUPTED

_VERBS = {
    "demo": "simulate the stock walk on the mannequin and show the result",
    "simulate": "simulate an armature's Action and bake the result as a new Action",
    "retime": "let a key moment be at a wanted frame, place and heading, with its pose kept",
    "live": "do again what was done to a live character, as a new Action",
    "graph": "learn skills that keep their balance, and make new motion from them",
    "bounds": "learn a motion within spacetime bounds, and make takes with what was learned",
    "direct": "let a library of motion go where it is told",
    "respond": "let a library of motion do deeds on cue, on time",
    "improvise": "let characters move by themselves, like a library of motion",
    "library": "minutes of motion on one character: build, add, show and tag",
    "farm": "hand takes to a render farm, and put them together again",
    "takes": "list the takes in a .blend, with their numbers",
    "clips": "list the stock clips",
    "jobs": "list, show, cancel, resume and clean up jobs",
}


def main(argv: Sequence[str], others: Mapping[str, str] | None = None) -> int:
    """Run one verb; a ``SinewError`` becomes one line on standard error.

    others: verb -> absolute module name, of verbs that are not shipped; they have their ``SUMMARY`` themselves.
    """
    with leave_on_interrupt(), log_in_lines():
        return _main(argv, others or {})


def _main(argv: Sequence[str], others: Mapping[str, str]) -> int:
    prepare_streams()
    parser = LineParser(prog="sinew", description="Gives mocap a body.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    # Only the verb in use is imported: the others would bring Blender's importers with them.
    wanted = next((word for word in argv if not word.startswith("-")), "")
    modules = {name: f"{__package__}.{name}" for name in _VERBS} | dict(others)
    declared = {one.name: one for one in registry.families() if one.name not in _VERBS}
    for name in (*modules, *declared):
        with finish_first():  # Blender's module makes files of its own before it can be asked for them
            module = import_module(modules.get(name, f"{__package__}.family")) if name == wanted else None
        summary = _VERBS.get(name) or (declared[name].help if name in declared else module.SUMMARY if module else "")
        about = argparse.SUPPRESS if name in declared and declared[name].is_example else summary
        verb = verbs.add_parser(name, help=about, description=summary[:1].upper() + summary[1:] + ".")
        if module is not None:
            module.VERB.add_arguments(verb, *([declared[name]] if name in declared else []))
            verb.set_defaults(run=module.VERB.run)
    try:
        require_words(argv)
        arguments = parser.parse_args(argv)
        # What is not shipped are benchmarks, which show what they know when they are interrupted.
        with raise_on_interrupt() if wanted in others else nullcontext():
            return int(arguments.run(arguments))
    except SystemExit as stop:  # argparse leaves; inside Blender the exit code must be returned
        return stop.code if isinstance(stop.code, int) else 2
    except SinewError as error:
        say_aside(str(error))
        return 1
    except MemoryError:
        say_aside("there is not enough memory. Take fewer frames, or close other programs")
        return 1
    except KeyboardInterrupt:
        say_aside("cancelled")
        return CANCELLED
    except BrokenPipeError:  # the reader of our output has gone: `./sinew clips | head`
        sys.stderr.close()
        return 0
    except OSError as error:  # whoever reads or writes should have said more of it; this much is known
        about = f"'{error.filename}': " if error.filename is not None else ""
        say_aside(f"{about}{error.strerror or error}. Check that path, and what you may do there")
        return 1
