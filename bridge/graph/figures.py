# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of a learned graph, in words and numbers: for the panel and for the command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.control.graph.model.control_graph import ControlGraph
from ...core.control.graph.transitions.motion_graph import FRAGMENT_S
from ..takes.report_texts import measure_text

_TOLD = ("push_n", "change")


@dataclass(frozen=True)
class SkillFigures:
    """A learned skill. numbers: what was measured of it, by name with the unit. text: the same in few words."""

    name: str
    kind: str
    gait: bool
    duration_s: float
    numbers: tuple[tuple[str, float], ...]

    @property
    def text(self) -> str:
        """How long it lasts, and how hard a push it takes."""
        pushed = dict(self.numbers).get("push_n")
        return f"{self.duration_s:.1f} s" + (f", {pushed:.0f} N" if pushed is not None else "")


def figures_of(graph: ControlGraph) -> tuple[SkillFigures, ...]:
    """The graph's skills in their order."""
    return tuple(
        SkillFigures(chain.name, chain.kind, chain.gait, chain.count * FRAGMENT_S, _numbers(graph, chain.name))
        for chain in graph.skills
    )


def mapping_of(graph: ControlGraph) -> dict[str, Any]:
    """Everything that is known of a graph as plain values for JSON."""
    return {
        "skills": [
            {"name": one.name, "kind": one.kind, "gait": one.gait, "duration_s": one.duration_s, **dict(one.numbers)}
            for one in figures_of(graph)
        ],
        "transitions": [
            {"source": way.source, "leave_s": way.leave_s, "target": way.target, "enter_s": way.enter_s}
            for way in graph.transitions
        ],
        "fragments": graph.structure.count,
        "bones": list(graph.body.skeleton.names),
        "mass_kg": float(graph.body.mass),
        "about": dict(graph.about),
    }


def number_texts(numbers: tuple[tuple[str, float], ...]) -> list[str]:
    """Numbers for people: 'Push 280 N'."""
    return [" ".join(measure_text(name, value)) for name, value in numbers]


def _numbers(graph: ControlGraph, name: str) -> tuple[tuple[str, float], ...]:
    """What was measured of a skill when it was practised last; nothing of one that was practised with others."""
    curve = graph.about.get("curve")
    own = [one for one in curve if isinstance(one, Mapping) and one.get("lesson") == name] if curve else []
    if not own:
        return ()
    found = {"iterations": len(own), **{key: own[-1].get(key) for key in _TOLD}}
    return tuple((key, float(value)) for key, value in found.items() if isinstance(value, float | int))
