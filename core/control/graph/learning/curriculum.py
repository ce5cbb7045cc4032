# SPDX-License-Identifier: GPL-3.0-or-later
"""In what order a graph is learned: cyclic skills first, then all that links them (control graphs, 6.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....geometry.quaternions import Array
from ..model.fragments import Indices
from ..model.structure import Chain, GraphStructure

_INSTANCES = 6  # of each fragment on a walk that is refined
_LEAST_S = 4.0  # of such a walk at least, so that it settles
IDLE = 12
"""Locked fragments in a row after which a walk is begun anew."""
_RUN_UP, _RUN_OUT = 6, 10  # fragments of the skills before and after a transition on its walk
_FRAGMENT_S = 0.1
_AHEAD = 4  # visits that a transition may have more than the rarest one, to be taken nevertheless
TRANSITIONS = "transitions"
"""The name of the stage in which everything but cycles is learned."""


@dataclass(frozen=True, eq=False)
class CurriculumStage:
    """Part of a graph that is learned at once.

    name: for progress. trainable: fragments that are learned; all others are locked. successors: by fragment, in this
    stage. refinement_walks: for open-loop refinement, each from the reference's own state. starts: fragments that
    guided walks begin with, and heads: the first trainable fragments that these lead to, whose visits are balanced.
    """

    name: str
    trainable: Indices
    successors: tuple[tuple[int, ...], ...]
    refinement_walks: tuple[Indices, ...]
    starts: Indices
    heads: Indices

    @property
    def walk_length(self) -> int:
        """Fragments of guided walks for one tuple of each trainable fragment."""
        if len(self.heads) == len(self.trainable):
            return len(self.trainable)
        return len(self.trainable) + len(self.heads) * (_RUN_UP + IDLE)

    def choose_start(self, visits: Array, rng: np.random.Generator) -> int:
        """A fragment to begin a walk with: one that leads to the least visited head.

        visits: (F,) of fragments so far, counted on. A head counts once it is entered.
        """
        head = min(range(len(self.heads)), key=lambda one: (visits[self.heads[one]] + rng.random(), one))
        visits[self.starts[head]] += 1
        return int(self.starts[head])

    def choose_next(self, fragments: Indices, rng: np.random.Generator, visits: Array | None = None) -> Indices:
        """(N,) a successor of each of fragments (N,); of several rather one that was rarely visited.

        visits: (F,) of fragments so far, counted on.
        """
        found = np.empty(len(fragments), dtype=np.int64)
        for index, fragment in enumerate(fragments):
            choices = self.successors[fragment]
            if len(choices) > 1:
                wanted = choices if visits is None else self._rarest_choices(choices, visits)
                found[index] = wanted[int(rng.integers(len(wanted)))]
            else:
                found[index] = choices[0]
            if visits is not None:
                visits[found[index]] += 1
        return found

    def _rarest_choices(self, choices: tuple[int, ...], visits: Array) -> list[int]:
        """The least visited successors, without transitions that have far more visits than the rarest one.

        A walk that went on from transition to transition would never be done with them, and never be begun anew with
        what no transition leads to: get-ups, of which there were 7 tuples in a graph with a kick, and 220 of others.
        """
        least = visits[self.heads].min()
        staying = [one for one in choices if one not in self.heads]
        seldom = [one for one in choices if one in self.heads and visits[one] <= least + _AHEAD]
        some = seldom or staying or list(choices)
        fewest = min(visits[one] for one in some)
        return [one for one in some if visits[one] == fewest]


def curriculum_stages(structure: GraphStructure) -> list[CurriculumStage]:
    """Each cycle alone, then everything else with the cycles locked."""
    found = [_cycle_stage(structure, chain) for chain in structure.chains if chain.kind == "cycle"]
    rest = [chain for chain in structure.chains if chain.kind != "cycle"]
    if rest:
        found.append(_transition_stage(structure, rest))
    return found


def joint_stage(structure: GraphStructure) -> CurriculumStage:
    """Everything at once, for where transitions fail with the cycles locked."""
    every = np.arange(structure.count)
    return CurriculumStage("together", every, structure.successors, (), every, every)


def _cycle_stage(structure: GraphStructure, chain: Chain) -> CurriculumStage:
    own = np.array(chain.fragments)
    successors = [() for _ in range(structure.count)]  # type: list[tuple[int, ...]]
    for fragment in chain.fragments:
        successors[fragment] = (structure.successors[fragment][0],)
    cycles = max(_INSTANCES, int(np.ceil(_LEAST_S / (chain.count * _FRAGMENT_S)))) + 1
    return CurriculumStage(chain.name, own, tuple(successors), (np.tile(own, cycles),), own, own)


def _transition_stage(structure: GraphStructure, chains: Sequence[Chain]) -> CurriculumStage:
    fragments = np.concatenate([np.array(chain.fragments) for chain in chains])
    refinement_walks = tuple(_walk_through(structure, chain) for chain in chains)
    starts = np.array([walk[0] for walk in refinement_walks])
    return CurriculumStage(
        TRANSITIONS,
        fragments,
        structure.successors,
        refinement_walks,
        starts,
        np.array([chain.first for chain in chains]),
    )


def _walk_through(structure: GraphStructure, chain: Chain) -> Indices:
    """A walk through a chain, with a run-up before it and a run-out after."""
    walk = list(chain.fragments)
    if chain.kind != "rise":
        while len(walk) < chain.count + _RUN_UP:
            before = [f for f in range(structure.count) if walk[0] in structure.successors[f]]
            if not before:
                break
            # Rather along a cycle than along another transition.
            walk.insert(0, min(before, key=lambda f: (structure.chains[structure.chain_of[f]].kind != "cycle", f)))
    while len(walk) < chain.count + _RUN_UP + _RUN_OUT and structure.successors[walk[-1]]:
        walk.append(structure.successors[walk[-1]][0])
    return np.array(walk)
