# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph show``: what is in a graph file."""

import argparse
import json
from pathlib import Path

from ....core.control.graph.model.control_graph import ControlGraph
from ...graph.figures import figures_of, mapping_of, number_texts
from ...learned.learned_file import learned_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("file", type=Path, metavar="GRAPH.npz")
    parser.add_argument("--json", action="store_true", help="print JSON with everything that is known of it")


def run(arguments: argparse.Namespace) -> int:
    """Print a line a skill and a line a transition, or JSON."""
    graph = learned_file("graph").read_file(arguments.file.resolve()).model
    if arguments.json:
        print(json.dumps(mapping_of(graph), indent=2))
    else:
        print(_table(graph))
    return 0


def _table(graph: ControlGraph) -> str:
    body = graph.body
    about = f"a body of {body.mass:.0f} kg and {len(body.skeleton)} bones, {graph.structure.count} fragments"
    count = len(graph.skills)
    lines = [f"{count} skill{'' if count == 1 else 's'} of {about}"]
    for one in figures_of(graph):
        kind = "gait" if one.gait else one.kind
        numbers = number_texts(one.numbers)
        lines.append("  ".join([f"  {one.name:<16}", f"{kind:<6}", f"{one.duration_s:5.1f} s", *numbers]))
    return "\n".join([*lines, *(f"  {way}" for way in graph.transitions)])
