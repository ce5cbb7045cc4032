# SPDX-License-Identifier: GPL-3.0-or-later
"""``clips``: the stock clips, those that ship with pybullet."""

import argparse
import dataclasses

from ...core.motion.io import stock
from .lines import say, say_json
from .verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def _run(arguments: argparse.Namespace) -> int:
    """Print one line a clip, or JSON."""
    infos = [stock.stock_info(name) for name in stock.stock_names()]
    if arguments.json:
        say_json([dataclasses.asdict(info) for info in infos])
        return 0
    for info in infos:
        length = f"{info.duration_s:6.2f} s  {info.frames:4d} frames at {info.fps:g} fps"
        say(f"{info.name:<16} {length}{'  loops' if info.loop else ''}")
    return 0


VERB = Verb(_add_arguments, _run)
