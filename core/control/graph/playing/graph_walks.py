# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks on a control graph: shortest paths, and random walks that visit every skill about equally (section 5)."""

from collections import deque
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ....errors import GraphError

Indices = NDArray[np.int64]
Successors = Sequence[Sequence[int]]

# A walk stays in a skill for this many of its lengths, from the least to the most: so that all of it is visited, and it
# is not always left by the same transition.
_STAYS = (1.0, 2.0)


def shortest_path(successors: Successors, start: int, goals: Collection[int]) -> list[int] | None:
    """The shortest path from a fragment to the nearest of ``goals``, both included; None if there is none."""
    _require_fragment(successors, start)
    if start in goals:
        return [start]
    came_from = _breadth_first_search(successors, start)
    nearest = next((fragment for fragment in came_from if fragment in goals), None)  # in breadth-first order
    return None if nearest is None else [start, *_trace_path(came_from, start, nearest)]


def random_walk(
    successors: Successors,
    chain_of: Indices,
    skill_of_chain: Sequence[int] | Indices,
    start: int,
    count: int,
    rng: np.random.Generator,
) -> Indices:
    """(count,) fragments from ``start`` on, each one that may follow the one before; the same for the same ``rng``.

    chain_of: (F,) which chain each fragment belongs to. skill_of_chain: (C,) the skill that a chain is, or leads to, or
    -1; the first chain of a skill is the skill itself. The walk goes to the skill whose fragments it has visited least
    often, by the transition that it has used least, and stays there for one or two rounds. What cannot be reached, such
    as get-ups, is left out, and so are dead ends.
    """
    _require_fragment(successors, start)
    if count < 1:
        raise GraphError(f"A walk of {count} fragments goes nowhere", "Ask for one or more")
    walker = _Walker(successors, np.asarray(chain_of), np.asarray(skill_of_chain), start, rng)
    if count > 1 and not walker.onward[start]:
        raise GraphError(f"From fragment {start} there is no way on", "Add a transition that leads back into the graph")
    while len(walker.walk) < count:
        walker.visit_least_visited()
    return np.array(walker.walk[:count], dtype=np.int64)


class _Walker:
    """A walk as it is made.

    walk: its fragments so far. visits: (F,) of each fragment. onward: for each fragment the successors from which a
    walk can go on for ever. own: by skill the chain that it is. entries: by skill the fragments of other chains from
    which it is entered.
    """

    def __init__(
        self, successors: Successors, chain_of: Indices, skill_of_chain: Indices, start: int, rng: np.random.Generator
    ) -> None:
        self.onward, self.chain_of, self.rng = _without_dead_ends(successors), chain_of, rng
        self.walk, self.visits = [start], np.zeros(len(successors))
        self.visits[start] = 1.0
        self.own: dict[int, int] = {}
        for chain, skill in enumerate(skill_of_chain):
            if skill >= 0:
                self.own.setdefault(int(skill), chain)
        self.entries = {
            skill: [
                fragment
                for fragment, after in enumerate(self.onward)
                if chain_of[fragment] != chain and any(chain_of[one] == chain for one in after)
            ]
            for skill, chain in self.own.items()
        }

    def visit_least_visited(self) -> None:
        """Go to the skill that was seen least, and stay there for a round or two."""
        came_from = _breadth_first_search(self.onward, self.walk[-1])
        # What a transition skips of a skill is not waited for.
        ahead = np.zeros(len(self.onward), dtype=bool)
        ahead[list(came_from)] = True
        rounds = {
            skill: float(self.visits[own].mean())
            for skill, chain in self.own.items()
            if (own := ahead & (self.chain_of == chain)).any()
        }
        if not rounds:  # nothing ahead is a skill
            self._step(int(self.rng.choice(self.onward[self.walk[-1]])))
            return
        skill = self._least(rounds)
        chain = self.own[skill]
        if self._next_in(chain) is None or self.chain_of[self.walk[-1]] != chain:
            self._enter(skill, came_from)
        lasts = self.rng.uniform(*_STAYS) * np.sum(self.chain_of == chain)
        for _ in range(round(float(lasts))):
            if (after := self._next_in(chain)) is None:
                return
            self._step(after)

    def _enter(self, skill: int, came_from: dict[int, int]) -> None:
        """Go to the skill by the way in that was used least."""
        here = self.walk[-1]
        used = {way: float(self.visits[way]) for way in self.entries[skill] if way == here or way in came_from}
        way = self._least(used)
        for fragment in _trace_path(came_from, here, way) if way != here else ():
            self._step(fragment)
        after = self._next_in(self.own[skill])
        if after is not None:
            self._step(after)

    def _next_in(self, chain: int) -> int | None:
        """The fragment of a chain that may come next, if there is one."""
        return next((one for one in self.onward[self.walk[-1]] if self.chain_of[one] == chain), None)

    def _least(self, values: dict[int, float]) -> int:
        """The one of the least value, any of them if there are several."""
        least = min(values.values())
        return int(self.rng.choice([one for one, value in values.items() if value == least]))

    def _step(self, fragment: int) -> None:
        self.walk.append(fragment)
        self.visits[fragment] += 1.0


def _require_fragment(successors: Successors, fragment: int) -> None:
    if not 0 <= fragment < len(successors):
        raise GraphError(f"There is no fragment {fragment}", f"The graph has the fragments 0 to {len(successors) - 1}")


def _breadth_first_search(successors: Successors, start: int) -> dict[int, int]:
    """For each fragment that is got to from ``start`` by one step or more, the one before it on the shortest way."""
    came_from: dict[int, int] = {}
    ahead = deque([start])
    while ahead:
        here = ahead.popleft()
        for after in successors[here]:
            if after not in came_from:
                came_from[after] = here
                ahead.append(after)
    return came_from


def _trace_path(came_from: dict[int, int], start: int, goal: int) -> list[int]:
    """The fragments after ``start`` on the way to ``goal``, which is the last of them."""
    way = [goal]
    while came_from[way[-1]] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


def _without_dead_ends(successors: Successors) -> list[list[int]]:
    """For each fragment the successors from which one can go on for ever."""
    onward = [list(after) for after in successors]
    ends = [fragment for fragment, after in enumerate(onward) if not after]
    before: list[list[int]] = [[] for _ in onward]
    for fragment, after in enumerate(onward):
        for one in after:
            before[one].append(fragment)
    while ends:
        end = ends.pop()
        for fragment in before[end]:
            if end in onward[fragment]:
                onward[fragment] = [one for one in onward[fragment] if one != end]
                if not onward[fragment]:
                    ends.append(fragment)
    return onward
