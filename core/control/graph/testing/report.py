# SPDX-License-Identifier: GPL-3.0-or-later
"""What a learned graph is worth, as one report: of pushes, endurance and a random walk, whichever is asked for."""

from collections.abc import Callable, Sequence
from typing import Any

from ....errors import BadSettings
from ....sim.engine import Engine
from ..model.control_graph import ControlGraph
from .pushed_walks import measure_pushed_walk
from .skill_tests import measure_endurance, measure_hardest_push

TESTS = ("push", "endurance", "walk")


def measure_graph(
    graph: ControlGraph,
    engine: Engine,
    tests: Sequence[str],
    skills: str,
    *,
    seconds: float,
    cycles: int,
    seed: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Run ``tests`` on the skills, and give what was found as plain values.

    skills: names with commas, '' for all cycles. seconds: of endurance and walk. cycles: for which a push is to be
    stood. say: is told what is done next.
    """
    chosen = tested_skills(graph, skills)
    found: dict[str, Any] = {"skills": {name: {} for name in chosen}}
    for name in chosen:
        own = found["skills"][name]
        if "push" in tests:
            say(f"pushing {name}")
            own |= measure_hardest_push(graph, engine, name, cycles)
        if "endurance" in tests:
            say(f"{name} for {seconds:g} s")
            own["endurance"] = measure_endurance(graph, engine, name, seconds)
    if "walk" in tests:
        say(f"a random walk of {seconds:g} s with pushes")
        found["walk"] = measure_pushed_walk(graph, engine, seconds, seed)
    return found


def require_tests(names: Sequence[str], known: Sequence[str] = TESTS) -> None:
    """Refuse a test that there is not."""
    for name in names:
        if name not in known:
            raise BadSettings(f"There is no test '{name}'", f"Choose among: {', '.join(known)}")


def tested_skills(graph: ControlGraph, text: str) -> list[str]:
    """The skills to be tested: those that are asked for, or all that are cycles."""
    asked = [name.strip() for name in text.split(",") if name.strip()]
    for name in asked:
        graph.structure.chain(name)
    return asked or [chain.name for chain in graph.skills if chain.kind == "cycle"]
