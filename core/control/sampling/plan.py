# SPDX-License-Identifier: GPL-3.0-or-later
"""A section of a clip planned in passes: linear models and an LQR solution, then SAMCON with less and less noise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...array_cache import ArrayCache, compute_digest
from ...geometry.quaternions import Array
from ...motion.losing import LostMotionDetector
from ...sim.engine import SensorRows
from ..tracking.linear_dynamics import LinearModels, NominalFragments, reference_fragments
from ..tracking.lqr import LqrSolution, solve_lqr
from ..tracking.reference import CONTROL_FPS, read_sensors
from ..tracking.shared_models import centre_models
from ..tracking.tracking_cost import CostWeights
from ..tracking.tracking_error import TrackingError
from .cost import compute_cost
from .fragment_samples import Trajectory
from .search import SamconSearch, SearchProblem

SECTION, AHEAD = 100, 15
"""Fragments that are planned together, and how many more the LQR pass looks ahead: what a plan needs of memory."""

# Distances at which linear models are fitted around the reference and around a nominal trajectory, of the tracking
# error's scales.
_AROUND, _NEAR = 0.75, 0.5
# What a fragment of a trajectory costs on the mean (equation 20) for more passes than usual to be worth their time,
# after the first of them, and for the last ones.
_IMPROVABLE, _DEAR = 1.15, 1.3
REPEAT = 98
"""Stands for the number of a first pass that is made again."""
SHARED = 97
"""Stands for the number of a first pass that is the same with every seed."""
_FIRST = (0, REPEAT, SHARED)  # numbers of passes that search around no trajectory
_TRIES = 3  # how many first passes there are at most
_SOUND = 1.5  # what a fragment may cost on the mean for a shared first pass to be gone on with, whatever the seed
EXPLORE = 2
"""What randomness is for, besides the search's own."""


@dataclass(frozen=True)
class SearchEffort:
    """How hard to search: copies that sample each fragment, and the noise on offsets in radians, pass by pass.

    refits_above: what a fragment of the trajectory that was found costs (equation 20) for the next pass to fit its
    Jacobian anew around it, and not go by what the samples of the last pass taught of the reference's. usual: how many
    of the passes are made where the first one found a trajectory that is good already; 0 for all. last: how many are
    made only where the trajectory is dear after all others. shares_first: whether there is one first pass for all
    seeds, which never goes back; where it finds nothing good a seed makes one of its own, and the better one is gone on
    with. repeats: whether a first pass that was lost on the way is made again, with other noise, and the best one gone
    on with: where one search falls another may not. improves: whether later passes improve the trajectory of the first
    as a whole, or search anew around its LQR solution, which varies more. homing_m: how far, in each fragment, a
    reference that has come along with its body goes back to its own place.
    """

    copies: int
    spreads: tuple[float, ...]
    refits_above: float = 0.0
    usual: int = 0
    last: int = 0
    shares_first: bool = False
    repeats: bool = False
    improves: bool = False
    homing_m: float = 0.0

    @property
    def learns(self) -> bool:
        """Whether Jacobians are learned from samples: not where they are fitted anew anyway."""
        return self.refits_above > 0.0 and len(self.spreads) > 1

    @property
    def usual_passes(self) -> int:
        """How many passes most sections take."""
        return self.usual or len(self.spreads)

    def count_passes(self, number: int, nominal: Trajectory | None) -> int:
        """How many passes there will be, as far as it is known in pass ``number`` around a nominal trajectory."""
        most = len(self.spreads) - self.last
        if number in _FIRST or (number == 1 and nominal is not None and np.mean(nominal.cost) < _IMPROVABLE):
            return self.usual_passes
        return most if number < most else len(self.spreads)

    def is_enough(self, made: int, found: Trajectory) -> bool:
        """Whether what so many passes have found is not dear enough for the last ones."""
        return made != len(self.spreads) - self.last or float(np.mean(found.cost)) < _DEAR

    def spread_of(self, number: int) -> float:
        """Radians: the noise of a pass."""
        return self.spreads[0 if number in _FIRST else number]


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
        self,
        tracking_error: TrackingError,
        problem_of: Callable[[int], SearchProblem],
        effort: SearchEffort,
        cache: ArrayCache | None = None,
        about: str = "",
        seed: tuple[int, ...] = (),
    ) -> None:
        """problem_of: the search problem of a pass; passes differ in randomness and noise.

        cache: where first passes are kept, and models, for problems in which these are the same with every seed.
        about: a digest of what else they depend on: reference, stage and engine. seed: that of the passes.
        """
        self.tracking_error, self.effort = tracking_error, effort
        self._cache, self._about, self._seed = cache, about, seed
        self.poll_cancel: Callable[[], None] | None = None
        """Called while linear models are fitted, which takes seconds: the job may have been cancelled."""
        self._problem_of = problem_of
        self._lqr_by_section: dict[int, LqrSolution] = {}
        self._models_by_section: dict[int, LinearModels] = {}

    def lqr_at(self, fragment: int) -> tuple[LqrSolution, int]:
        """The LQR solution along the reference for the fragment's section, and the fragment that it begins with."""
        section = fragment // SECTION
        if section not in self._lqr_by_section:
            problem, stop = self._problem_of(0), self.tracking_error.reference.fragments
            some = np.arange(section * SECTION, min((section + 1) * SECTION + AHEAD, stop))
            models = self._fit(problem, reference_fragments(self.tracking_error, some), _AROUND, 0)
            # One at a time is enough, and they are large.
            self._lqr_by_section = {section: solve_lqr(self.tracking_error, models)}
            self._models_by_section = {section: models}
        return self._lqr_by_section[section], section * SECTION

    def plan(
        self,
        task: PlanTask,
        on_fragment: OnFragment,
        begun: tuple[int, SamconSearch] | None = None,
        old: Trajectory | None = None,
    ) -> Trajectory:
        """The trajectory that all passes together find. ``begun``: the pass and search to go on with.

        old: what was planned for these fragments, before something came between. Where passes improve trajectories, the
        last of them suffices to lead back to it, unless that gets lost.
        """
        resumed = begun is not None
        old = old.within(task.first, task.stop) if old is not None and self.effort.improves else None
        if begun is None:
            if (known := self._load(self._plan_key(task, old), task)) is not None:
                return known
            begun = self._begin(task, old)
        number, search = begun
        passes = self.effort.count_passes(number, search.nominal)
        while True:
            while not search.done:
                search.advance()
                on_fragment(number, search)
            trajectory, tries = search.best_trajectory(), search.tries
            if number in _FIRST or tries == 0:
                instead, trajectory = self._judge_first(number, task, search, keeps=not resumed)
                if instead is not None:
                    number, search = instead
                    passes = self.effort.count_passes(number, search.nominal)
                    continue
                number = number if tries == 0 else 0
            number += 1
            if number == 1:
                passes = self.effort.count_passes(1, trajectory)
            if number == passes < len(self.effort.spreads) and not self.effort.is_enough(number, trajectory):
                passes = len(self.effort.spreads)
            if number == passes:
                if not resumed:  # what other code began is not what this would have made
                    self._save(self._plan_key(task, old), trajectory)
                return trajectory
            learned = search.learned_jacobians() if trajectory is not search.rival else None
            search = self.search(number, task, trajectory, learned=learned)
            search.tries = tries

    def _begin(self, task: PlanTask, old: Trajectory | None) -> tuple[int, SamconSearch]:
        """The first pass of a plan, or the next one where the first is known, at its beginning."""
        if old is not None:
            number = len(self.effort.spreads) - 1
            search = self.search(number, task, old)
            search.tries = 0
            return number, search
        if not self.effort.shares_first:
            return 0, self.search(0, task, None)
        if (known := self._load_first(task)) is not None:
            return self._go_on(task, *known)
        search = self.search(SHARED, task, None)
        search.retry_budget = 0
        return SHARED, search

    def _judge_first(
        self, number: int, task: PlanTask, search: SamconSearch, keeps: bool
    ) -> tuple[tuple[int, SamconSearch] | None, Trajectory]:
        """Of a first pass, or one back to an old plan: what to make in place of the next pass, if anything; the best.

        keeps: whether what a shared pass has found is kept for others.
        """
        trajectory = search.best_trajectory()
        if number == SHARED:
            learned = search.learned_jacobians()
            if keeps:
                self._save_first(task, trajectory, learned)
            return self._go_on(task, trajectory, learned), trajectory
        if search.rival is not None:
            trajectory = min((search.rival, trajectory), key=self.rate_trajectory)
        if search.tries and not self.effort.repeats:
            return None, trajectory
        if self.rate_trajectory(trajectory)[0]:
            if search.tries == 0:  # there is no way back
                return (0, self.search(0, task, None)), trajectory
            if search.tries < _TRIES:
                again = self.search(REPEAT, task, None)
                again.rival, again.tries = trajectory, search.tries + 1
                return (REPEAT, again), trajectory
        return None, trajectory

    def _go_on(self, task: PlanTask, first: Trajectory, learned: Array | None) -> tuple[int, SamconSearch]:
        """The pass after a shared one: the next, or a first one of the seed's own with that as its rival."""
        if float(np.mean(first.cost)) < _SOUND and not self.rate_trajectory(first)[0]:
            return 1, self.search(1, task, first, learned=learned)
        search = self.search(0, task, None)
        search.rival, search.tries = first, 2
        return 0, search

    def rate_trajectory(self, trajectory: Trajectory) -> tuple[bool, float]:
        """Whether it is lost on the way, and what its fragments cost by equation 20 at their ends, on the mean.

        A trajectory's own ``cost`` is that of each fragment's cheapest sample, which need not lie on it. Whose strength
        is keyed by hand is never called lost.
        """
        problem, reference = self._problem_of(0), self.tracking_error.reference
        rows, qpos = read_sensors(problem.world, trajectory.ends), problem.world.pose_of(trajectory.ends)[0]
        frames = reference.frames_of_many(trajectory.first + np.arange(len(trajectory)))[:, -1]
        weights, costs = CostWeights(), []
        for at, frame in enumerate(frames):
            seen = SensorRows(**{name: values[:, at : at + 1] for name, values in vars(rows).items()})
            one = slice(at, at + 1)
            offsets, anchors = trajectory.offsets[one], trajectory.anchors[one]
            costs.append(compute_cost(reference, int(frame), qpos[one], seen, offsets, anchors, weights).total[0])
        wanted = reference.rows
        detector = LostMotionDetector(
            wanted.link_pos[0], wanted.link_quat_wxyz[0], reference.body.trunk, float(CONTROL_FPS)
        )
        astray = detector.detect_astray(frames, rows.link_pos[0], rows.link_quat_wxyz[0], place_counts=True)
        lost = np.any(astray[1:] & astray[:-1]) and reference.muscle[frames].min() >= 1.0
        return bool(lost), float(np.mean(costs))

    def _key(self, *what: Any) -> str:
        return compute_digest(self._about, *what)

    def _plan_key(self, task: PlanTask, old: Trajectory | None) -> str:
        return self._key("plan", self._seed, task, self.effort, old)

    def _load(self, key: str, task: PlanTask) -> Trajectory | None:
        """A trajectory of the task, if it is known from before: nothing that only the stage has changes it."""
        found = None if self._cache is None else self._cache.load(key, self._shapes(task))
        return None if found is None else Trajectory(task.first, **found)

    def _shapes(self, task: PlanTask) -> dict[str, tuple[int, ...]]:
        """Of the arrays of a trajectory of the task."""
        count, size = task.stop - task.first, len(task.start)
        return {
            "starts": (count, size),
            "offsets": (count, self.tracking_error.nu),
            "ends": (count, size),
            "anchors": (count, 2),
            "cost": (count,),
        }

    def _save(self, key: str, trajectory: Trajectory) -> None:
        if self._cache is not None:
            self._cache.save(key, {name: part for name, part in vars(trajectory).items() if name != "first"})

    def _load_first(self, task: PlanTask) -> tuple[Trajectory, Array | None] | None:
        """What the shared first pass of the task has found and learned, if it is known from before."""
        if self._cache is None:
            return None
        shapes, kinds = self._shapes(task), {}
        if self.effort.learns:
            links = len(self.tracking_error.reference.body.links)
            nx, servos = self.tracking_error.nx, len(self.tracking_error.servos)
            shapes["learned"], kinds["learned"] = (task.stop - task.first, nx + 3 * links, nx + servos), np.float32
        found = self._cache.load(self._key("first", task, self.effort), shapes, kinds)
        if found is None:
            return None
        learned = found.pop("learned", None)
        return Trajectory(task.first, **found), learned

    def _save_first(self, task: PlanTask, trajectory: Trajectory, learned: Array | None) -> None:
        if self._cache is not None:
            arrays = {name: part for name, part in vars(trajectory).items() if name != "first"}
            known = {} if learned is None else {"learned": learned}
            self._cache.save(self._key("first", task, self.effort), arrays | known)

    def search(
        self,
        number: int,
        task: PlanTask,
        nominal: Trajectory | None,
        after: tuple[Array, Array] | None = None,
        learned: Array | None = None,
    ) -> SamconSearch:
        """Pass ``number`` of the task, at its beginning, around the trajectory of the pass before.

        after: Hessian and gradient of the value function after the task's last fragment, if known.
        learned: (F, ny, nx + servos) Jacobians that the pass before has learned.
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
            dear = nominal.cost > self.effort.refits_above
            models = self._models_around(problem, task, around, dear, number, learned)
            lqr = solve_lqr(self.tracking_error, models, *after)
        jacobian = None
        if self.effort.learns:
            jacobian = self._reference_models(task)[0] if nominal is None else models.jacobian
        return SamconSearch(
            problem, lqr, task.first, task.stop, task.start, task.anchor, task.before, nominal, jacobian, learned
        )

    def _models_around(
        self,
        problem: SearchProblem,
        task: PlanTask,
        around: NominalFragments,
        dear: NDArray[np.bool_],
        number: int,
        learned: Array | None,
    ) -> LinearModels:
        """Models around a trajectory: fitted anew for fragments that are dear (F,), the others' as known by now."""
        if dear.all() or not problem.shares_models:
            return self._fit(problem, around, _NEAR, number)
        jacobian, curvature = (np.array(part) for part in self._reference_models(task))
        if learned is not None:
            jacobian = learned.astype(float)
        if dear.any():
            fitted = self._fit(problem, around[np.flatnonzero(dear)], _NEAR, number)
            jacobian[dear], curvature[dear] = fitted.jacobian, fitted.curvature
        return centre_models(problem.world, self.tracking_error, jacobian, curvature, around, problem.meter)

    def _reference_models(self, task: PlanTask) -> tuple[Array, Array]:
        """Jacobians (F, ny, nx + servos) and curvatures (F, ny) of the task's fragments along the reference."""
        _, begin = self.lqr_at(task.first)
        models, some = self._models_by_section[task.first // SECTION], slice(task.first - begin, task.stop - begin)
        return models.jacobian[some], models.curvature[some]

    def _fit(self, problem: SearchProblem, nominal: NominalFragments, scale: float, number: int) -> LinearModels:
        """Linear models around nominal fragments, from the cache if they are there."""
        count, nx = len(nominal.fragments), self.tracking_error.nx
        ny = nx + 3 * len(self.tracking_error.reference.body.links)
        key = self._key("models", vars(nominal), scale, number, problem.world.copies)
        sizes = {"jacobian": (ny, nx + len(self.tracking_error.servos)), "bias": (ny,), "curvature": (ny,)}
        shapes = {name: (count, *size) for name, size in sizes.items()}
        found = self._cache.load(key, shapes) if self._cache is not None else None
        if found is not None:
            return LinearModels(**found)
        rng = problem.random(EXPLORE, int(nominal.fragments[0]), number)
        models = problem.fit_models(nominal, scale, rng, self.poll_cancel)
        if self._cache is not None:
            self._cache.save(key, vars(models))
        return models
