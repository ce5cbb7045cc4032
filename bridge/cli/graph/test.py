# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph test``: push what was learned, let it run and walk about, and print how much it takes, as JSON."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ....core.control import registry
from ....core.control.graph.model.control_graph import ControlGraph
from ....core.control.graph.testing.pushed_walks import measure_pushed_walk
from ....core.control.graph.testing.skill_tests import measure_endurance, measure_hardest_push
from ....core.errors import BadSettings
from ....core.jobs.engine_choice import resolve_engine
from ....core.sim import engines
from ...graph import baking
from ...graph.files import read_file
from ..outputs import require_outputs, write_report

_TESTS = ("push", "endurance", "walk")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=Path, metavar="GRAPH.npz", help="what was learned")
    add(
        "--only",
        default=",".join(_TESTS),
        metavar="TESTS",
        help="of push: the hardest push that each cycle stands for 20 cycles; endurance: each cycle without a push; "
        "walk: a random walk with a push of 150 N every 10 s (default all)",
    )
    add("--skills", default="", metavar="NAMES", help="only these, such as walk,run")
    add("--seconds", type=float, default=60.0, metavar="S", help="how long endurance and walk are (default 60)")
    add("--cycles", type=int, default=20, metavar="N", help="how many cycles a push must be stood for (default 20)")
    add("--engine", default="auto", help="auto, mujoco or bullet (default auto: the fastest installed)")
    add("--seed", type=int, default=0, metavar="N", help="of the walk (default 0)")
    add("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")
    add("--report", type=Path, metavar="FILE.json", help="write it to a file as well")


def run(arguments: argparse.Namespace) -> int:
    """Test and print."""
    wanted = [name.strip() for name in arguments.only.split(",") if name.strip()]
    for name in wanted:
        if name not in _TESTS:
            raise BadSettings(f"There is no test '{name}'", f"Choose among: {', '.join(_TESTS)}")
    if arguments.seconds < 1.0 or arguments.cycles < 1:
        raise BadSettings("A test of no length is none", "Give --seconds and --cycles of at least 1")
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    graph = read_file(arguments.file.resolve()).graph
    engine = resolve_engine(arguments.engine, registry.get(baking.METHOD))
    report = {"graph": str(arguments.file), "engine": engine, "mass_kg": float(graph.body.mass)}
    report |= _tested(graph, engine, _cycles(graph, arguments.skills), wanted, arguments)
    write_report(arguments, report)
    print(json.dumps(report, indent=2))
    return 0


def _cycles(graph: ControlGraph, text: str) -> list[str]:
    """The skills to be tested: those that are asked for, or all that are cycles."""
    asked = [name.strip() for name in text.split(",") if name.strip()]
    for name in asked:
        graph.structure.chain(name)
    return asked or [chain.name for chain in graph.skills if chain.kind == "cycle"]


def _tested(
    graph: ControlGraph, engine: str, skills: list[str], wanted: list[str], arguments: argparse.Namespace
) -> dict[str, Any]:
    world = engines.get_engine(engine)
    found: dict[str, Any] = {"skills": {name: {} for name in skills}}
    for name in skills:
        own = found["skills"][name]
        if "push" in wanted:
            print(f"sinew: pushing {name}", file=sys.stderr)
            own |= measure_hardest_push(graph, world, name, arguments.cycles)
        if "endurance" in wanted:
            print(f"sinew: {name} for {arguments.seconds:g} s", file=sys.stderr)
            own["endurance"] = measure_endurance(graph, world, name, arguments.seconds)
    if "walk" in wanted:
        print(f"sinew: a random walk of {arguments.seconds:g} s with pushes", file=sys.stderr)
        found["walk"] = measure_pushed_walk(graph, world, arguments.seconds, arguments.seed)
    return found
