# SPDX-License-Identifier: GPL-3.0-or-later
"""A section of a clip planned in passes: linear models and an LQR solution, then SAMCON with less and less noise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ..tracking.linear_dynamics import NominalFragments, fit_linear_models, reference_fragments
from ..tracking.lqr import LqrSolution, solve_lqr
from ..tracking.tracking_error import TrackingError
from .fragment_samples import Trajectory
from .search import SamconSearch, SearchProblem

SECTION, AHEAD = 100, 15
"""Fragments that are planned together, and how many more the LQR pass looks ahead: what a plan needs of memory."""

# Distances at which linear models are fitted around the reference and around a nominal trajectory, of the tracking
# error's scales.
_AROUND, _NEAR = 0.75, 0.5
EXPLORE = 2
"""What randomness is for, besides the search's own."""


@dataclass(frozen=True)
class SearchEffort:
    """How hard to search: copies that sample each fragment, and the noise on offsets in radians, pass by pass."""

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

    def __init__(
        self, tracking_error: TrackingError, problem_of: Callable[[int], SearchProblem], effort: SearchEffort
    ) -> None:
        """problem_of: the search problem of a pass; passes differ in randomness and noise."""
        self.tracking_error, self.effort = tracking_error, effort
        self.poll_cancel: Callable[[], None] | None = None
        """Called while linear models are fitted, which takes seconds: the job may have been cancelled."""
        self._problem_of = problem_of
        self._lqr_by_section: dict[int, LqrSolution] = {}

    def lqr_at(self, fragment: int) -> tuple[LqrSolution, int]:
        """The LQR solution along the reference for the fragment's section, and the fragment that it begins with."""
        section = fragment // SECTION
        if section not in self._lqr_by_section:
            problem, stop = self._problem_of(0), self.tracking_error.reference.fragments
            some = np.arange(section * SECTION, min((section + 1) * SECTION + AHEAD, stop))
            solution = self._solve(problem, reference_fragments(self.tracking_error, some), _AROUND, 0)
            self._lqr_by_section = {section: solution}  # one at a time is enough, and they are large
        return self._lqr_by_section[section], section * SECTION

    def plan(
        self, task: PlanTask, on_fragment: OnFragment, begun: tuple[int, SamconSearch] | None = None
    ) -> Trajectory:
        """The trajectory that all passes together find. ``begun``: the pass and search to go on with."""
        number, search = begun or (0, self.search(0, task, None))
        while True:
            while not search.done:
                search.advance()
                on_fragment(number, search)
            trajectory = search.best_trajectory()
            number += 1
            if number == len(self.effort.spreads):
                return trajectory
            search = self.search(number, task, trajectory)

    def search(
        self, number: int, task: PlanTask, nominal: Trajectory | None, after: tuple[Array, Array] | None = None
    ) -> SamconSearch:
        """Pass ``number`` of the task, at its beginning, around the trajectory of the pass before.

        after: Hessian and gradient of the value function after the task's last fragment, if known.
        """
        problem = self._problem_of(number)
        if nominal is None or after is None:
            along, begin = self.lqr_at(task.first)
            lqr = along.since(task.first - begin)
            # The reference's solution knows what comes after the section.
            end = task.stop - task.first
            after = lqr.value_hessian[end], lqr.value_gradient[end]
        if nominal is not None:
            around = nominal.linearization(task.before)
            lqr = self._solve(problem, around, _NEAR, number, *after)
        return SamconSearch(problem, lqr, task.first, task.stop, task.start, task.anchor, task.before, nominal)

    def _solve(
        self, problem: SearchProblem, nominal: NominalFragments, scale: float, number: int, *after: Array
    ) -> LqrSolution:
        """Linear models around nominal fragments, and their backward LQR pass."""
        rng = problem.random(EXPLORE, int(nominal.fragments[0]), number)
        models = fit_linear_models(
            problem.world,
            self.tracking_error,
            nominal,
            scale,
            rng,
            poll_cancel=self.poll_cancel,
            meter=problem.meter,
        )
        return solve_lqr(self.tracking_error, models, *after)
