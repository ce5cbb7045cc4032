# SPDX-License-Identifier: GPL-3.0-or-later
"""``clips``: the stock clips, those that ship with pybullet."""

import argparse
import dataclasses
import json

from ...core.motion.io import stock


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(arguments: argparse.Namespace) -> int:
    """Print one line a clip, or JSON."""
    infos = [stock.stock_info(name) for name in stock.stock_names()]
    if arguments.json:
        print(json.dumps([dataclasses.asdict(info) for info in infos], indent=2))
        return 0
    for info in infos:
        length = f"{info.duration_s:6.2f} s  {info.frames:4d} frames at {info.fps:g} fps"
        print(f"{info.name:<16} {length}{'  loops' if info.loop else ''}")
    return 0
