# SPDX-License-Identifier: GPL-3.0-or-later
"""Guided SAMCON (control graphs, 5.3, Algorithm 1): random walks sampled around the current policies.

The paper executes one long random walk with one population of samples. Here many small populations walk at the same
time, so that a batch engine is never short of work; a population that fails begins its fragment again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ...tracking.facing import rotate_about_z
from ...tracking.resampling import resample_systematically
from ...tracking.tracking_error import TrackingError
from ..model.fragments import Indices
from ..model.policies import MAX_ACTION, Policies
from ..playing.fragment_simulator import CopyBatch, FragmentSimulator
from .curriculum import IDLE
from .fragment_cost import fragment_cost
from .graph_lqr import GraphFeedback, deviations

ACTION_NOISE = np.radians(3.0)
"""Standard deviation of noise on actions that policies do not know of (sigma_epsilon in 5.3)."""
_ELITE = 0.2  # the share of samples that are resampled
_DISCOUNT = 0.6  # of past cost in the cumulative cost, for each fragment
_VALUE_WEIGHT = 3.0  # of the LQR value function, in units of equation 20
_FAILED = 0.15  # error of heights, as a share of the body's, that even the best sample of a failed population has
_FORGET = 12  # fragments before a failure, which led to it, are no examples


@dataclass(eq=False)
class SimulationTuples:
    """By fragment the states and actions of successful walks, which policies are regressed from (5.2)."""

    states: list[list[Array]]
    actions: list[list[Array]]
    cost: list[float] = field(default_factory=list)
    lost: int = 0

    @classmethod
    def none(cls, fragments: int) -> "SimulationTuples":
        """No tuples of any fragment."""
        return cls([[] for _ in range(fragments)], [[] for _ in range(fragments)])

    def of(self, fragment: int) -> tuple[Array, Array]:
        """(n, S) and (n, A)."""
        return np.array(self.states[fragment]), np.array(self.actions[fragment])


@dataclass(frozen=True, eq=False)
class _Step:
    """One step of all walks: fragments (P,), observations (N, S), actions (N, A), parents (N,) of the next samples."""

    fragments: Indices
    observations: Array
    actions: Array
    parents: Indices


@dataclass(eq=False)
class _Walks:
    """Walks of P populations as they are sampled.

    batch: N samples. fragments: (P,) that come next. total: (N,) cumulative costs, and value: (N,) these with the value
    function of the end states. idle: (P,) locked fragments in a row. since: (P,) the step at which each present walk
    began.
    """

    batch: CopyBatch
    fragments: Indices
    total: Array
    value: Array
    idle: Indices
    since: Indices
    past: list[_Step] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class GuidedSamcon:
    """Walks of P populations with M samples each, which together are the simulator's copies.

    choose_next: gives successors of fragments (P,). choose_start: gives a fragment to begin a walk with. locked: (F,)
    fragments whose policies stay as they are: no exploration there. push_n: newtons that populations are pushed with at
    most, with ``push_probability`` for each fragment.
    """

    simulator: FragmentSimulator
    tracking_error: TrackingError
    feedback: GraphFeedback
    populations: int
    choose_next: Callable[[Indices, np.random.Generator], Indices]
    choose_start: Callable[[np.random.Generator], int]
    locked: NDArray[np.bool_]
    push_n: float = 0.0
    push_probability: float = 0.05

    @property
    def population_size(self) -> int:
        """Samples in a population."""
        return self.simulator.world.copies // self.populations

    def sample_walks(
        self,
        policies: Policies,
        steps: int,
        lqr_guided: bool,
        rng: np.random.Generator,
        on_step: Callable[[], None],
    ) -> SimulationTuples:
        """Tuples of walks of so many fragments.

        A population that failed, or has long been in locked fragments, begins a new walk. lqr_guided: sample around the
        LQR feedback, for policies that are still zero.
        """
        tuples = SimulationTuples.none(len(self.simulator.track))
        fragments = np.array([self.choose_start(rng) for _ in range(self.populations)])
        batch = self._start(fragments, rng)
        nothing = np.zeros(len(batch.states))
        counts = np.zeros((2, self.populations), dtype=np.int64)
        walks = _Walks(batch, fragments, nothing, nothing, counts[0], counts[1])
        for _ in range(steps):
            on_step()
            failed = self._extend(walks, tuples, policies, lqr_guided, rng)
            tuples.lost += int(failed.sum())
            # A population that is about to enter a fragment to be learned is not done.
            done = (walks.idle > IDLE) & self.locked[walks.fragments]
            for population in np.flatnonzero(failed | done):
                self._restart(walks, tuples, int(population), bool(failed[population]), rng)
        for population in range(self.populations):
            self._trace_back(tuples, walks, population, len(walks.past))
        return tuples

    def _extend(
        self, walks: _Walks, tuples: SimulationTuples, policies: Policies, lqr_guided: bool, rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Execute one more fragment of all walks, and resample the best; (P,) which populations failed."""
        simulator, batch = self.simulator, walks.batch
        actions = self._sample_actions(policies, batch, lqr_guided, rng)
        noisy = actions + rng.normal(size=actions.shape) * ACTION_NOISE
        states, rows = simulator.execute(batch, noisy, self._sample_pushes(rng))
        qpos, qvel = simulator.world.pose_of(states)
        cost = fragment_cost(simulator, batch.fragments, qpos, rows, actions)
        tuples.cost.append(float(np.median(cost[np.isfinite(cost)])) if np.isfinite(cost).any() else np.inf)
        following = self.choose_next(walks.fragments, rng)
        onward = np.repeat(following, self.population_size)
        to_go = self.feedback.value(onward, deviations(simulator.track, self.tracking_error, onward, qpos, qvel))
        value = _DISCOUNT * walks.total + cost + _VALUE_WEIGHT * to_go
        walks.value = np.where(np.isfinite(value), value, np.inf)
        parents = self._resample(walks.value, rng)
        walks.past.append(_Step(walks.fragments, batch.observations, actions, parents))
        error = simulator.height_error(batch.fragments, rows).reshape(self.populations, -1).min(1)
        finite = np.isfinite(walks.value.reshape(self.populations, -1))
        walks.batch = simulator.next_batch(states, rows, noisy, onward).select(parents)
        walks.total = (_DISCOUNT * walks.total + cost)[parents]
        walks.idle = np.where(self.locked[walks.fragments], walks.idle + 1, 0)
        walks.fragments = following
        return np.asarray((error > _FAILED) | ~finite.any(1))

    def _restart(
        self, walks: _Walks, tuples: SimulationTuples, population: int, failed: bool, rng: np.random.Generator
    ) -> None:
        """Keep a population's tuples and begin a new walk; after a failure, with the fragment that was to come next."""
        self._trace_back(tuples, walks, population, len(walks.past) - _FORGET * int(failed))
        if not failed:
            walks.fragments[population], walks.idle[population] = self.choose_start(rng), 0
        own = np.arange(population * self.population_size, (population + 1) * self.population_size)
        walks.batch.assign(own, self._start(walks.fragments[[population]], rng))
        walks.total[own], walks.since[population] = 0.0, len(walks.past)

    def _start(self, fragments: Indices, rng: np.random.Generator) -> CopyBatch:
        """Populations at the starts of fragments (P,), all samples of each in the same state."""
        return self.simulator.start(fragments, rng).select(np.repeat(np.arange(len(fragments)), self.population_size))

    def _sample_actions(
        self, policies: Policies, batch: CopyBatch, lqr_guided: bool, rng: np.random.Generator
    ) -> Array:
        """(N, A) actions drawn from the policies (equation 5); the first sample of each population takes their mean."""
        simulator, known = self.simulator, self.locked[batch.fragments][:, None]
        means = policies.mean_actions(batch.fragments, batch.observations)
        if lqr_guided:
            pose = simulator.world.pose_of(batch.states)
            aside = deviations(simulator.track, self.tracking_error, batch.fragments, *pose)
            best = np.clip(self.feedback.actions(batch.fragments, aside), -MAX_ACTION, MAX_ACTION)
            means = np.where(known, means, best)
        noise = np.where(known, 0.0, rng.normal(size=means.shape) * policies.spreads[batch.fragments])
        noise[:: self.population_size] = 0.0
        return means + noise

    def _sample_pushes(self, rng: np.random.Generator) -> Array | None:
        """(N, 3) newtons: now and then a population is pushed, in a random direction."""
        if self.push_n <= 0.0:
            return None
        pushed = rng.random(self.populations) < self.push_probability
        force = np.zeros((self.populations, 3))
        force[:, 0] = pushed * self.push_n * rng.random(self.populations)
        force = rotate_about_z(rng.random(self.populations) * 2.0 * np.pi, force)
        return np.repeat(force, self.population_size, axis=0)

    def _resample(self, value: Array, rng: np.random.Generator) -> Indices:
        """(N,) the parent of each sample, resampled among the elite of its population (Algorithm 1, lines 9 and 10)."""
        population_size, keep = self.population_size, max(round(_ELITE * self.population_size), 2)
        parents = np.empty(len(value), dtype=np.int64)
        for population in range(self.populations):
            mine = value[population * population_size : (population + 1) * population_size]
            best = np.argsort(mine, kind="stable")[:keep]
            parents[population * population_size : (population + 1) * population_size] = (
                best[resample_systematically(mine[best], population_size, rng)] + population * population_size
            )
        return parents

    def _trace_back(self, tuples: SimulationTuples, walks: _Walks, population: int, until: int) -> None:
        """Keep the best path of a population's walk up to step ``until``, traced back from its end (line 12)."""
        size, since = self.population_size, int(walks.since[population])
        index = population * size + int(np.argmin(walks.value[population * size : (population + 1) * size]))
        for step in range(len(walks.past) - 1, since - 1, -1):
            past = walks.past[step]
            if step < len(walks.past) - 1:
                index = int(past.parents[index])
            if step < until:
                fragment = int(past.fragments[population])
                tuples.states[fragment].append(past.observations[index])
                tuples.actions[fragment].append(past.actions[index])
