# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of ``simulate`` that a farm's takes have as well: declared, carried by a job, and given to ``simulate``."""

import argparse
from collections.abc import Sequence
from urllib.parse import unquote

from ....core.control import registry
from ....core.errors import BadSettings
from .. import simulate
from ..job_arguments import add_seed
from ..lines import LineParser, require_words

Options = tuple[tuple[str, str], ...]
"""(name without dashes, value) of options, in order; one that may be repeated may be there several times."""

# What a job always has, so that a farm's form shows it: with what means the same as leaving it out.
_ALWAYS = {"armature": "", "action": "", "method": registry.default_method_name(), "engine": "auto"}
_SOMETIMES = {
    "frames": "A:B",
    "blend": "SECONDS",
    "cycles": "N",
    "place": "WHERE",
    "muscle": "FRAME:VALUE,...",
    "bones": "NAMES",
    "push": "A:B",
    "from": "SIDE",
}
_REPEATED = {"set": "KEY=VALUE", "vary": "KEY=VALUE"}


def add_take_options(parser: argparse.ArgumentParser, takes: int | None = None) -> None:
    """Declare what decides the takes. takes: how many there are unless it is said, None where it must be."""
    about = "how many takes, each with its own seed" + (f" (default {takes})" if takes is not None else "")
    words = {"type": int, "metavar": "N", "help": about, "default": takes, "required": takes is None}
    parser.add_argument("--takes", "--variations", **words)
    add_seed(parser, "takes")
    group = parser.add_argument_group("as with 'simulate'")
    for name, default in _ALWAYS.items():
        group.add_argument(f"--{name}", default=default, metavar="NAME")
    for name, metavar in _SOMETIMES.items():
        group.add_argument(f"--{name}", dest=_place(name), metavar=metavar)
    for name, metavar in _REPEATED.items():
        group.add_argument(f"--{name}", action="append", default=[], metavar=metavar)


def read_options(arguments: argparse.Namespace, *, encoded: bool = False) -> Options:
    """What was given of these. encoded: values are written with escapes such as %7B, as in an address of the web."""
    found = [(name, getattr(arguments, name)) for name in _ALWAYS]
    found += [(name, getattr(arguments, _place(name))) for name in _SOMETIMES]
    found += [(name, value) for name in _REPEATED for value in getattr(arguments, name)]
    given = tuple((name, value) for name, value in found if value is not None)
    return tuple((name, _decoded(name, value)) for name, value in given) if encoded else given


def simulate_arguments(options: Options, takes: int, seed: int, words: Sequence[str] = ()) -> argparse.Namespace:
    """The arguments of ``simulate`` that make these takes, with more of its words."""
    parser = LineParser(prog="sinew simulate")
    simulate.VERB.add_arguments(parser)
    # Joined, for a name that begins with a dash; without what says nothing, as a farm's empty field does.
    given = [f"--{name}={value}" for name, value in options if value]
    return parser.parse_args([*given, f"--variations={takes}", f"--seed={seed}", *words])


def _place(name: str) -> str:
    """Where argparse keeps it; ``from`` is a word of Python's own."""
    return f"take_{name}"


def _decoded(name: str, value: str) -> str:
    try:
        text = unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise BadSettings(f"--{name} is '{value}', which is no text", "Export the job again") from None
    require_words([text])
    return text
