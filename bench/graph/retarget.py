# SPDX-License-Identifier: GPL-3.0-or-later
"""Retargeting (6.1): a skill for a body with longer legs, learned from zero policies and with a warm start."""

from dataclasses import replace
from typing import Any

from ...core.control.graph.model.control_graph import ControlGraph
from ...core.control.graph.testing.skill_tests import measure_hardest_push
from ...core.control.graph.transitions.motion_graph import MotionGraph
from ...core.sim import engines
from .learned_graphs import GraphCache, learning_figures, stock_skill
from .other_bodies import lengthen_legs

LONGER = 1.25
"""Legs of the other body, by those of the first."""


def measure_retargeting(graph: ControlGraph, cache: GraphCache, seed: int) -> dict[str, Any]:
    """Figures of both ways to learn a graph's first skill for the other body: by the clock, and by pushes."""
    skill = stock_skill(graph.skills[0].name)
    motions = MotionGraph((replace(skill, clip=lengthen_legs(skill.clip, LONGER)),))
    found: dict[str, Any] = {"longer_legs": LONGER}
    for how, known in (("cold", None), ("warm", graph)):
        learned = cache.learn(motions, seed, f"{skill.name} on longer legs, {how}", known)
        figures, pushed = (
            learning_figures(learned),
            measure_hardest_push(learned, engines.get_engine(cache.engine), skill.name),
        )
        curve = figures["curve"]
        found[how] = {name: figures[name] for name in ("learn_s", "learn_core_s", "refine_s", "iterations", "curve")}
        found[how] |= {"push_n": pushed["push_n"], "falls_unpushed": pushed["falls_unpushed"]}
        found[how] |= {"first_push_n": curve[0].get("push_n") if curve else None}
        found["mass_kg"] = learned.body.mass
    return found
