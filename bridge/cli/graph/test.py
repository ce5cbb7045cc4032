# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph test``: push what was learned, let it run and walk about, and print how much it takes, as JSON."""

import argparse

from ....core.control import registry
from ....core.control.graph.testing.report import TESTS, measure_graph, require_tests
from ....core.errors import BadSettings
from ....core.jobs.engine_choice import resolve_engine
from ....core.sim import engines
from ...learned.learned_file import learned_file
from ..job_arguments import add_engine
from ..lines import path_argument, say_aside, say_json
from ..outputs import require_outputs, write_report
from ..verb import Verb


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    add = parser.add_argument
    add("file", type=path_argument, metavar="GRAPH.npz", help="what was learned")
    add(
        "--only",
        default=",".join(TESTS),
        metavar="TESTS",
        help="of push: the hardest push that each cycle stands for 20 cycles; endurance: each cycle without a push; "
        "walk: a random walk with a push of 150 N every 10 s (default all)",
    )
    add("--skills", default="", metavar="NAMES", help="only these, such as walk,run")
    add("--seconds", type=float, default=60.0, metavar="S", help="how long endurance and walk are (default 60)")
    add("--cycles", type=int, default=20, metavar="N", help="how many cycles a push must be stood for (default 20)")
    add_engine(parser)
    add("--seed", type=int, default=0, metavar="N", help="of the walk (default 0)")
    add("--json", action="store_true", help="print JSON alone (the default; for scripts that say so)")
    add("--report", type=path_argument, metavar="FILE.json", help="write it to a file as well")


def _run(arguments: argparse.Namespace) -> int:
    """Test and print."""
    wanted = [name.strip() for name in arguments.only.split(",") if name.strip()]
    require_tests(wanted)
    if arguments.seconds < 1.0 or arguments.cycles < 1:
        raise BadSettings("A test of no length is none", "Give --seconds and --cycles of at least 1")
    arguments.out, arguments.preview = None, []
    require_outputs(arguments)
    graph = learned_file("graph").read_file(arguments.file.resolve()).model
    engine = resolve_engine(arguments.engine, registry.get_method("graph_test"))
    report = {"graph": str(arguments.file), "engine": engine, "mass_kg": float(graph.body.mass)}
    report |= measure_graph(
        graph,
        engines.get_engine(engine),
        wanted,
        arguments.skills,
        seconds=arguments.seconds,
        cycles=arguments.cycles,
        seed=arguments.seed,
        say=say_aside,
    )
    write_report(arguments, report)
    say_json(report)
    return 0


VERB = Verb(_add_arguments, _run)
