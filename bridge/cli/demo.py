# SPDX-License-Identifier: GPL-3.0-or-later
"""``demo``: the whole way once, on the mannequin: simulate the stock walk, bake it, and show it."""

import argparse
from pathlib import Path

from ...core.control import registry
from . import simulate
from .lines import LineParser, path_argument, say
from .verb import Verb

CLIP, CYCLES = "walk", 4


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument(
        "--out", type=path_argument, default=Path("out"), metavar="DIR", help="where the files go (default out)"
    )


def _run(arguments: argparse.Namespace) -> int:
    """Do what ``simulate`` does, with every output, and say where to look."""
    out = arguments.out.resolve()
    blend, sheet, film = (out / f"demo{ending}" for ending in (".blend", ".png", ".mp4"))
    words = [CLIP, "--cycles", CYCLES, "--method", registry.default_method_name()]
    words += ["--out", blend, "--report", out / "demo.json", "--preview", sheet, "--preview", film]
    parser = LineParser(prog="sinew demo")
    simulate.VERB.add_arguments(parser)
    code = simulate.VERB.run(parser.parse_args([str(word) for word in words]))
    if code == 0:
        say(f"Open {blend} in Blender, or look at {sheet.name} and {film.name} beside it.")
    return code


VERB = Verb(_add_arguments, _run)
