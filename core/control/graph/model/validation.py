# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation of a control graph, before it is written and after it is read."""

import math

import numpy as np

from ....errors import GraphError
from ...tracking.reference import FRAGMENT_STEPS
from ..transitions.motion_graph import KINDS
from .control_graph import ControlGraph
from .structure import Chain, GraphStructure

_HINT = "Learn the skills again"
TRANSITION = "transition"
"""The kind of a chain that is no skill."""


def require_valid_graph(graph: ControlGraph) -> None:
    """Refuse a graph that could not be played, naming the chain, fragment or array that is wrong."""
    if not graph.structure.chains or not graph.structure.count:
        raise GraphError("The graph is empty", "Learn at least one skill")
    _require_chains(graph.structure.chains, graph.structure.count)
    _require_follows(graph.structure)
    _require_transitions(graph)
    _require_numbers(graph)


def _require_chains(chains: tuple[Chain, ...], fragments: int) -> None:
    skills = [chain for chain in chains if chain.kind != TRANSITION]
    first, names = 0, set[str]()
    for number, chain in enumerate(chains):
        if chain.kind not in (*KINDS, TRANSITION):
            raise GraphError(f"'{chain.name}' is of the kind '{chain.kind}'", _HINT)
        if chain.first != first or chain.count < 1:
            raise GraphError(
                f"'{chain.name}' has {chain.count} fragments from {chain.first} on, not from {first}", _HINT
            )
        first += chain.count
        # A chain's skill is looked up by its number, and the first chain of a number is the skill itself.
        if not (chain.skill == number if number < len(skills) else chain.skill in range(len(skills))):
            raise GraphError(f"'{chain.name}' says that it is or leads to skill {chain.skill}", _HINT)
        if number < len(skills) and (chain.kind == TRANSITION or not chain.name.strip() or chain.name in names):
            raise GraphError(f"Chain {number}, '{chain.name}', is no skill of its own", _HINT)
        names.add(chain.name)
        if chain.gait and (chain.kind != "cycle" or chain.count % 2):
            raise GraphError(f"'{chain.name}' is a gait, but no cycle of an even number of fragments", _HINT)
    if first != fragments:
        raise GraphError(f"The chains have {first} fragments, but {fragments} have followers", _HINT)


def _require_follows(structure: GraphStructure) -> None:
    for fragment, after in enumerate(structure.successors):
        for one in after:
            if not 0 <= one < structure.count:
                raise GraphError(
                    f"{_where(structure, fragment)} is followed by fragment {one}, but there are {structure.count}",
                    _HINT,
                )


def _require_transitions(graph: ControlGraph) -> None:
    skills = {chain.name for chain in graph.skills}
    for transition in graph.transitions:
        for name, time_s in ((transition.source, transition.leave_s), (transition.target, transition.enter_s)):
            if name not in skills:
                raise GraphError(f"The transition {transition} is of '{name}', which is no skill", _HINT)
            if not (math.isfinite(time_s) and time_s >= 0.0):
                raise GraphError(f"The transition {transition} is at {time_s} s of '{name}'", _HINT)


def _require_numbers(graph: ControlGraph) -> None:
    body, features, count = graph.body, graph.features, graph.structure.count
    states, actions = len(features.scale), len(features.action_dofs)
    moments = FRAGMENT_STEPS + 1
    expected = (
        ("track", graph.track, "qpos", (count, moments, body.nq)),
        ("track", graph.track, "rates", (count, moments, body.nv)),
        ("track", graph.track, "targets", (count, FRAGMENT_STEPS, body.nu)),
        ("policies", graph.policies, "gains", (count, actions, states)),
        ("policies", graph.policies, "states", (count, states)),
        ("policies", graph.policies, "actions", (count, actions)),
        ("policies", graph.policies, "spreads", (count, actions)),
        ("graph", graph, "turns", (count, actions)),
        *([] if graph.turn_rates is None else [("graph", graph, "turn_rates", (count,))]),
    )
    for whose, part, name, shape in expected:
        array = getattr(part, name)
        if array.shape != shape:
            raise GraphError(f"{name} of the {whose} have shape {array.shape}, not {shape}", _HINT)
        odd = np.argwhere(~np.isfinite(array))
        if len(odd):
            where = _where(graph.structure, int(odd[0, 0]))
            raise GraphError(f"{where} has {name} of the {whose} that are no numbers", _HINT)


def _where(structure: GraphStructure, fragment: int) -> str:
    return f"Fragment {fragment} of '{structure.chains[structure.chain_of[fragment]].name}'"
