# SPDX-License-Identifier: GPL-3.0-or-later
"""A section of a clip from first look to calm result: models, a guide, and passes with less and less noise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ..tracking.linear_dynamics import fit_linear_models
from ..tracking.lqr import LqrSolution, solve_lqr
from ..tracking.tracking_error import TrackingError
from .fragment_samples import Trajectory
from .search import SamconSearch, SearchProblem

SECTION, AHEAD = 100, 15
"""Fragments that are planned together, and how many more the guide looks at: what a plan needs of memory."""

# How far out the surroundings of the reference, and of a way that is known, are explored, of the gauge's distances.
_AROUND, _NEAR = 0.75, 0.5
EXPLORE = 2
"""What randomness is for, besides the search's own."""


@dataclass(frozen=True)
class SearchEffort:
    """How hard to look: copies that try each fragment, and the spread of offsets in radians, pass by pass."""

    copies: int
    spreads: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PlanTask:
    """A plan to be made: fragments ``first`` to ``stop`` of a clip, from a state (state_size,) at an anchor (2,).

    before: (nu,) the offsets that led there.
    """

    first: int
    stop: int
    start: Array
    anchor: Array
    before: Array


OnFragment = Callable[[int, SamconSearch], None]
"""Called after every fragment with the number of the pass and the search: progress, checkpoints."""


class Planner:
    """Plans sections for one character in one world."""

    def __init__(self, gauge: TrackingError, ground_of: Callable[[int], SearchProblem], effort: SearchEffort) -> None:
        """ground_of: the ground for a pass, whose randomness and noise differ."""
        self.gauge, self.effort = gauge, effort
        self.breathe: Callable[[], None] | None = None
        """Called while models are explored, which takes seconds: whoever waits may have changed their mind."""
        self._ground_of = ground_of
        self._guides: dict[int, LqrSolution] = {}

    def guide_at(self, fragment: int) -> tuple[LqrSolution, int]:
        """The guide along the reference for the fragment's section, and the fragment that it begins with."""
        section = fragment // SECTION
        if section not in self._guides:
            ground = self._ground_of(0)
            reference = self.gauge.reference
            some = np.arange(section * SECTION, min((section + 1) * SECTION + AHEAD, reference.fragments))
            models = fit_linear_models(
                ground.world,
                self.gauge,
                some,
                reference.states[reference.frame_before(some)],
                np.zeros((len(some), self.gauge.nu)),
                np.zeros((len(some), self.gauge.nu)),
                _AROUND,
                ground.random(EXPLORE, int(some[0]), 0),
                breathe=self.breathe,
            )
            self._guides = {section: solve_lqr(self.gauge, models)}  # one at a time is enough, and they are large
        return self._guides[section], section * SECTION

    def planned(self, task: PlanTask, look: OnFragment, begun: tuple[int, SamconSearch] | None = None) -> Trajectory:
        """The way that all passes together find. ``begun``: the pass and search to go on with."""
        number, search = begun or (0, self.search(0, task, None))
        while True:
            while not search.done:
                search.advance()
                look(number, search)
            way = search.way()
            number += 1
            if number == len(self.effort.spreads):
                return way
            search = self.search(number, task, way)

    def search(
        self, number: int, task: PlanTask, known: Trajectory | None, after: tuple[Array, Array] | None = None
    ) -> SamconSearch:
        """Pass ``number`` of the task, at its beginning. ``after``: curve and slant of what follows, if known."""
        ground = self._ground_of(number)
        if known is None or after is None:
            along, begin = self.guide_at(task.first)
            guide = along.since(task.first - begin)
            # The reference's guide knows what comes after the section.
            end = task.stop - task.first
            after = guide.curves[end], guide.slants[end]
        if known is not None:
            some = np.arange(task.first, task.stop)
            random = ground.random(EXPLORE, task.first, number)
            models = fit_linear_models(
                ground.world,
                self.gauge,
                some,
                known.starts,
                known.offsets_before(task.before),
                known.offsets,
                _NEAR,
                random,
                known.anchors,
                breathe=self.breathe,
            )
            guide = solve_lqr(self.gauge, models, *after)
        return SamconSearch(ground, guide, task.first, task.stop, task.start, task.anchor, task.before, known)
