# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph show``: what is in a graph file."""

import argparse

from ....core.control.graph.model.control_graph import ControlGraph
from ...graph.figures import figures_of, mapping_of, number_texts
from ...learned.learned_file import learned_file
from ..lines import path_argument, say, say_json
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("file", type=path_argument, metavar="GRAPH.npz")
    parser.add_argument("--json", action="store_true", help="print JSON with everything that is known of it")


def _run(arguments: argparse.Namespace) -> int:
    """Print a line a skill and a line a transition, or JSON."""
    graph = learned_file("graph").read_file(arguments.file.resolve()).model
    if arguments.json:
        say_json(mapping_of(graph))
    else:
        say(*_table(graph))
    return 0


def _table(graph: ControlGraph) -> list[str]:
    body = graph.body
    about = f"a body of {body.mass:.0f} kg and {len(body.skeleton)} bones, {graph.structure.count} fragments"
    count = len(graph.skills)
    lines = [f"{count} skill{'' if count == 1 else 's'} of {about}"]
    for one in figures_of(graph):
        kind = "gait" if one.gait else one.kind
        numbers = number_texts(one.numbers)
        lines.append("  ".join([f"  {one.name:<16}", f"{kind:<6}", f"{one.duration_s:5.1f} s", *numbers]))
    return [*lines, *(f"  {way}" for way in graph.transitions)]


VERB = Verb(_add_arguments, _run)
