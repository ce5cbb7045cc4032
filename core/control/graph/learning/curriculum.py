# SPDX-License-Identifier: GPL-3.0-or-later
"""In what order a graph is learned: cycles by themselves, then all that links them (control graphs, 5.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....geometry.quaternions import Array
from ..model.fragments import Indices
from ..model.structure import Chain, GraphStructure

_INSTANCES = 6  # of each fragment on a walk that is refined
_LEAST_S = 4.0  # a walk that is refined lasts at least this long, and is long enough to settle
IDLE = 12
"""Fragments of known skills in a row after which a walk has nothing more to learn from."""
_RUN_UP, _RUN_OUT = 6, 10  # fragments of the skills before and after a way that is refined
_FRAGMENT_S = 0.1
_AHEAD = 4  # how much more often than the most seldom way one may have been begun, and still is taken where ways part
TRANSITIONS = "transitions"
"""The lesson in which everything but cycles is learned."""


@dataclass(frozen=True, eq=False)
class CurriculumStage:
    """Part of a graph that is learned together; the rest stays as it is.

    name: for progress. open: fragments that are learned. follows: by fragment, what may follow in this lesson.
    walks: to be refined, each from a calm start. starts: fragments that guided walks begin with. heads: the fragments
    that these lead to, by which is told how often each was used.
    """

    name: str
    open: Indices
    follows: tuple[tuple[int, ...], ...]
    walks: tuple[Indices, ...]
    starts: Indices
    heads: Indices

    @property
    def length(self) -> int:
        """How many fragments guided walks must have for one example of each."""
        if len(self.heads) == len(self.open):
            return len(self.open)
        return len(self.open) + len(self.heads) * (_RUN_UP + IDLE)

    def fresh(self, visits: Array, rng: np.random.Generator) -> int:
        """A fragment to begin a walk with: one that leads to what was begun least.

        visits: (F,) how often fragments were begun so far, counted on. What this leads to counts as it is begun.
        """
        head = min(range(len(self.heads)), key=lambda one: (visits[self.heads[one]] + rng.random(), one))
        visits[self.starts[head]] += 1
        return int(self.starts[head])

    def after(self, fragments: Indices, rng: np.random.Generator, visits: Array | None = None) -> Indices:
        """(N,) a fragment that may follow each of (N,); where ways part, rather one that was seldom begun.

        visits: (F,) how often fragments were begun so far, counted on.
        """
        found = np.empty(len(fragments), dtype=np.int64)
        for index, fragment in enumerate(fragments):
            choices = self.follows[fragment]
            if len(choices) > 1:
                wanted = choices if visits is None else self._wanted(choices, visits)
                found[index] = wanted[int(rng.integers(len(wanted)))]
            else:
                found[index] = choices[0]
            if visits is not None:
                visits[found[index]] += 1
        return found

    def _wanted(self, choices: tuple[int, ...], visits: Array) -> list[int]:
        """Of what may follow, that which was begun least; but no way that others are far behind.

        Who always went on from way to way would never have done with them, and begin anew with what nobody comes by:
        get-ups, of which there were 7 examples in a graph with a kick, while other ways had 220.
        """
        least = visits[self.heads].min()
        staying = [one for one in choices if one not in self.heads]
        seldom = [one for one in choices if one in self.heads and visits[one] <= least + _AHEAD]
        some = seldom or staying or list(choices)
        fewest = min(visits[one] for one in some)
        return [one for one in some if visits[one] == fewest]


def curriculum_stages(layout: GraphStructure) -> list[CurriculumStage]:
    """Each cycle alone, then everything else with the cycles as they are."""
    found = [_cycle_stage(layout, chain) for chain in layout.chains if chain.kind == "cycle"]
    rest = [chain for chain in layout.chains if chain.kind != "cycle"]
    if rest:
        found.append(_transition_stage(layout, rest))
    return found


def joint_stage(layout: GraphStructure) -> CurriculumStage:
    """Everything at once: where new ways do not fit what was learned before, that must give way, too."""
    every = np.arange(layout.count)
    return CurriculumStage("together", every, layout.follows, (), every, every)


def _cycle_stage(layout: GraphStructure, chain: Chain) -> CurriculumStage:
    own = np.array(chain.fragments)
    follows = [() for _ in range(layout.count)]  # type: list[tuple[int, ...]]
    for fragment in chain.fragments:
        follows[fragment] = (layout.follows[fragment][0],)
    cycles = max(_INSTANCES, int(np.ceil(_LEAST_S / (chain.count * _FRAGMENT_S)))) + 1
    return CurriculumStage(chain.name, own, tuple(follows), (np.tile(own, cycles),), own, own)


def _transition_stage(layout: GraphStructure, chains: Sequence[Chain]) -> CurriculumStage:
    fragments = np.concatenate([np.array(chain.fragments) for chain in chains])
    walks = tuple(_walk_through(layout, chain) for chain in chains)
    starts = np.array([walk[0] for walk in walks])
    return CurriculumStage(
        TRANSITIONS, fragments, layout.follows, walks, starts, np.array([chain.first for chain in chains])
    )


def _walk_through(layout: GraphStructure, chain: Chain) -> Indices:
    """A walk that leads through a chain, from well before it to well after."""
    walk = list(chain.fragments)
    if chain.kind != "rise":
        while len(walk) < chain.count + _RUN_UP:
            before = [f for f in range(layout.count) if walk[0] in layout.follows[f]]
            if not before:
                break
            # Rather along a cycle than along another transition.
            walk.insert(0, min(before, key=lambda f: (layout.chains[layout.chain_of[f]].kind != "cycle", f)))
    while len(walk) < chain.count + _RUN_UP + _RUN_OUT and layout.follows[walk[-1]]:
        walk.append(layout.follows[walk[-1]][0])
    return np.array(walk)
