# SPDX-License-Identifier: GPL-3.0-or-later
"""Guided SAMCON: populations walk through the graph, sampling around the current policies (control graphs, 5.3).

The paper walks one long walk with one population. Here many small ones walk at the same time, so that a batch engine
is never short of work, and a population that is lost goes back to where its fragment begins.
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
"""Noise on actions that policies do not see, so that they learn to make up for it."""
_KEPT = 0.2
_MEMORY = 0.6
_WORTH = 3.0  # a unit of foresight, in units of equation 20
_LOST = 0.15  # how far astray a whole population must be to start again
_FORGET = 12  # fragments before that, which led to it, are no examples


@dataclass(eq=False)
class SimulationTuples:
    """States and actions that did well, by fragment."""

    states: list[list[Array]]
    actions: list[list[Array]]
    cost: list[float] = field(default_factory=list)
    lost: int = 0

    @classmethod
    def none(cls, fragments: int) -> "SimulationTuples":
        """No examples of any fragment."""
        return cls([[] for _ in range(fragments)], [[] for _ in range(fragments)])

    def of(self, fragment: int) -> tuple[Array, Array]:
        """(n, S) and (n, A)."""
        return np.array(self.states[fragment]), np.array(self.actions[fragment])


@dataclass(frozen=True, eq=False)
class GuidedSamcon:
    """How populations walk: P of them with M copies each, which together are the arena's.

    after: gives what follows fragments (P,). fresh: gives a fragment to begin with. learned: (F,) fragments whose
    policies are known and stay: no other way is tried there. push_n: up to how hard populations are pushed, ``often``
    for each fragment.
    """

    arena: FragmentSimulator
    gauge: TrackingError
    balance: GraphFeedback
    populations: int
    after: Callable[[Indices, np.random.Generator], Indices]
    fresh: Callable[[np.random.Generator], int]
    learned: NDArray[np.bool_]
    push_n: float = 0.0
    often: float = 0.05

    @property
    def members(self) -> int:
        """Copies in a population."""
        return self.arena.world.copies // self.populations

    def walked(
        self,
        policies: Policies,
        steps: int,
        foresee: bool,
        rng: np.random.Generator,
        breathe: Callable[[], None],
    ) -> SimulationTuples:
        """Examples from walks of so many fragments. Who is lost, or has long been where all is known, begins anew.

        foresee: let the balance's own feedback lead, for policies that know nothing yet.
        """
        arena, members = self.arena, self.members
        examples = SimulationTuples.none(len(arena.track))
        fragments = np.array([self.fresh(rng) for _ in range(self.populations)])
        idle = np.zeros(self.populations, dtype=np.int64)
        crowd = self._begun(fragments, rng)
        total = np.zeros(len(crowd.states))
        past: list[tuple[Indices, Array, Array, Indices]] = []
        since = np.zeros(self.populations, dtype=np.int64)  # of ``past``, where each population's present run began
        for _ in range(steps):
            breathe()
            actions = self._sampled(policies, crowd, foresee, rng)
            asked = actions + rng.normal(size=actions.shape) * ACTION_NOISE
            states, rows = arena.done(crowd, asked, self._pushes(rng))
            qpos, qvel = arena.world.pose_of(states)
            each = fragment_cost(arena, crowd.fragments, qpos, rows, actions)
            following = self.after(fragments, rng)
            onward = np.repeat(following, members)
            worth = self.balance.worth(onward, deviations(arena.track, self.gauge, onward, qpos, qvel))
            value = _MEMORY * total + each + _WORTH * worth
            value = np.where(np.isfinite(value), value, np.inf)
            parents = self._parents(value, rng)
            past.append((fragments, crowd.seen, actions, parents))
            off = arena.astray(crowd.fragments, rows).reshape(self.populations, members).min(1)
            finite = np.isfinite(value.reshape(self.populations, members))
            examples.cost.append(float(np.median(each[np.isfinite(each)])) if np.isfinite(each).any() else np.inf)
            crowd = arena.next(states, rows, asked, onward).taken(parents)
            total = (_MEMORY * total + each)[parents]
            fragments = following
            idle = np.where(self.learned[past[-1][0]], idle + 1, 0)
            lost = (off > _LOST) | ~finite.any(1)
            done = (idle > IDLE) & self.learned[following]  # not who is about to go where there is something to learn
            for one in np.flatnonzero(lost | done):
                self._kept(examples, past, int(one), value, int(since[one]), len(past) - _FORGET * int(lost[one]))
                if not lost[one]:
                    fragments[one], idle[one] = self.fresh(rng), 0
                mine = np.arange(one * members, (one + 1) * members)
                crowd.put(mine, self._begun(fragments[[one]], rng))
                total[mine], since[one] = 0.0, len(past)
            examples.lost += int(lost.sum())
        for population in range(self.populations):
            self._kept(examples, past, population, value, int(since[population]), len(past))
        return examples

    def _begun(self, fragments: Indices, rng: np.random.Generator) -> CopyBatch:
        """Populations at the starts of fragments (P,), all of each in the same state."""
        return self.arena.begun(fragments, rng).taken(np.repeat(np.arange(len(fragments)), self.members))

    def _sampled(self, policies: Policies, crowd: CopyBatch, foresee: bool, rng: np.random.Generator) -> Array:
        """(N, A) actions around the policies; each population's first does as they say."""
        arena, known = self.arena, self.learned[crowd.fragments][:, None]
        means = policies.means(crowd.fragments, crowd.seen)
        if foresee:
            pose = arena.world.pose_of(crowd.states)
            aside = deviations(arena.track, self.gauge, crowd.fragments, *pose)
            best = np.clip(self.balance.actions(crowd.fragments, aside), -MAX_ACTION, MAX_ACTION)
            means = np.where(known, means, best)
        noise = np.where(known, 0.0, rng.normal(size=means.shape) * policies.spreads[crowd.fragments])
        noise[:: self.members] = 0.0
        return means + noise

    def _pushes(self, rng: np.random.Generator) -> Array | None:
        """(N, 3) newtons: now and then a population is pushed, from anywhere."""
        if self.push_n <= 0.0:
            return None
        pushed = rng.random(self.populations) < self.often
        force = np.zeros((self.populations, 3))
        force[:, 0] = pushed * self.push_n * rng.random(self.populations)
        force = rotate_about_z(rng.random(self.populations) * 2.0 * np.pi, force)
        return np.repeat(force, self.members, axis=0)

    def _parents(self, value: Array, rng: np.random.Generator) -> Indices:
        """(N,) of whom each copy goes on, population by population."""
        members, keep = self.members, max(round(_KEPT * self.members), 2)
        parents = np.empty(len(value), dtype=np.int64)
        for population in range(self.populations):
            mine = value[population * members : (population + 1) * members]
            best = np.argsort(mine, kind="stable")[:keep]
            parents[population * members : (population + 1) * members] = (
                best[resample_systematically(mine[best], members, rng)] + population * members
            )
        return parents

    def _kept(
        self,
        examples: SimulationTuples,
        past: list[tuple[Indices, Array, Array, Indices]],
        population: int,
        value: Array,
        since: int,
        until: int,
    ) -> None:
        """Take the best way of a population's run, traced back from the end, as examples up to ``until``."""
        members = self.members
        index = population * members + int(np.argmin(value[population * members : (population + 1) * members]))
        first = True
        for step in range(len(past) - 1, since - 1, -1):
            fragments, seen, actions, parents = past[step]
            if not first:
                index = int(parents[index])
            first = False
            if step < until:
                fragment = int(fragments[population])
                examples.states[fragment].append(seen[index])
                examples.actions[fragment].append(actions[index])
