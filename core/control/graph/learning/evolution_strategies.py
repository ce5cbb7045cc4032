# SPDX-License-Identifier: GPL-3.0-or-later
"""Practice: policies as they are, each copy's a little different, pushed as hard as they just about stand.

Regression from examples finds feedback that is right on average. What fells a character is the rare state that the
average does not care about. So at last the policies walk by themselves, with nobody who chooses among samples: copies
come in pairs whose policies differ from the mean by the same step to either side, both are pushed alike, and the mean
goes where the better of the two were (evolution strategies with mirrored samples).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ....geometry.quaternions import Array
from ...tracking.facing import rotate_about_z
from ..model.fragments import Indices
from ..model.policies import Policies
from ..playing.fragment_simulator import CopyBatch, FragmentSimulator
from ..playing.push_tests import FALL_HEIGHT_ERROR
from .curriculum import CurriculumStage
from .fragment_cost import fragment_cost
from .gait_symmetry import FragmentSymmetry

_APART = 0.01  # radians of action for a typical deviation: how far policies of a pair are from the mean
_RATE = 10.0
_MEMORY = 0.7  # how much of a step is the last one's
_WORST = 4.0  # what a fragment costs at most, and who is down
_FELLED = 0.3  # the share that pushes should fell: there is nothing to learn from pushes that all or none stand
_HARDER = 0.15  # by how much, as an exponent, pushes change to keep it there
_WEAKEST_N, _HARDEST_N = 10.0, 1500.0
_AHEAD = 0.5  # the share of pushes that come from right behind; the others come from anywhere
_STEPS = 24  # fragments that a pair is followed for
_EXTREME = 3.0  # standard deviations beyond which a difference counts no more


@dataclass(frozen=True, eq=False)
class EvolutionStrategy:
    """Where and how policies are practised.

    starts: gives fragments (n,) to begin with. latest: the last step in which pushes come; the first is 1.
    """

    arena: FragmentSimulator
    lesson: CurriculumStage
    even: FragmentSymmetry
    starts: Callable[[int, np.random.Generator], Indices]
    latest: int = 1

    def turn(
        self,
        policies: Policies,
        levels: Array,
        rounds: int,
        rng: np.random.Generator,
        breathe: Callable[[], None],
    ) -> tuple[Policies, Array, float]:
        """Policies after some rounds, with the pushes (F,) newtons that they just about stand, and how many fell."""
        own = self.lesson.open[self.even.layout.twins[self.lesson.open] == self.lesson.open]
        gain_step, action_step = np.zeros_like(policies.gains), np.zeros_like(policies.actions)
        levels, felled = np.array(levels), 0.0
        for _ in range(rounds):
            gains, actions = self._steps_aside(policies, own, rng)
            loss, down, pushed, visited = self._tried(policies, gains, actions, levels, rng, breathe)
            pairs = len(gains)
            better = loss[pairs:] - loss[:pairs]
            better = np.clip(better / (better.std() + 1e-9), -_EXTREME, _EXTREME)
            # Who was seldom visited is told less: its step is as noisy as all others'.
            seen = _RATE / np.sqrt(np.maximum(visited.sum(0), 1) * pairs)
            counted = better[:, None] * visited
            gain_step = _momentum(gain_step, np.einsum("nf,nfas->fas", counted, gains) * seen[:, None, None])
            action_step = _momentum(action_step, np.einsum("nf,nfa->fa", counted, actions) * seen[:, None])
            policies = self.even.policies(
                replace(policies, gains=policies.gains + gain_step, actions=policies.actions + action_step)
            )
            levels, felled = _adapt_push_levels(levels, pushed, down), float(down.mean())
        return policies, levels, felled

    def _steps_aside(self, policies: Policies, own: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """(n, F, A, S), (n, F, A): what the first of a pair adds to gains and actions, and the second takes off."""
        pairs, (count, acts, size) = self.arena.world.copies // 2, policies.gains.shape
        gains, actions = np.zeros((pairs, count, acts, size)), np.zeros((pairs, count, acts))
        gains[:, own] = _APART * rng.normal(size=(pairs, len(own), acts, size)) / self.arena.features.scale
        actions[:, own] = _APART * rng.normal(size=(pairs, len(own), acts))
        return self.even.spread(gains, actions)

    def _tried(
        self,
        policies: Policies,
        gains: Array,
        actions: Array,
        levels: Array,
        rng: np.random.Generator,
        breathe: Callable[[], None],
    ) -> tuple[Array, Array, Indices, Array]:
        """(N,) what walks cost, (N,) who went down, (N,) where they were pushed, and (n, F) what pairs visited."""
        arena, pairs = self.arena, len(gains)
        both = np.tile(np.arange(pairs), 2)
        side = np.repeat([1.0, -1.0], pairs)[:, None]
        crowd = arena.begun(self.starts(pairs, rng), rng).taken(both)
        when, strength = rng.integers(1, self.latest + 1, pairs)[both], rng.uniform(0.5, 1.0, pairs)[both]
        aside = np.where(rng.random(pairs) < _AHEAD, 0.0, rng.uniform(0.0, 2.0 * np.pi, pairs))[both]
        pushed, visited = np.array(crowd.fragments), np.zeros((pairs, len(policies)))
        loss, down = np.zeros(2 * pairs), np.zeros(2 * pairs, dtype=bool)
        for step in range(_STEPS + self.latest - 1):
            breathe()
            visited[np.arange(pairs), self.even.layout.twins[crowd.fragments[:pairs]]] = 1.0
            asked = policies.held(_perturbed_actions(policies, crowd, gains, actions, both, side))
            now = when == step
            pushed[now] = crowd.fragments[now]
            ahead = np.nan_to_num(arena.ahead(crowd.states))
            force = np.where(now, strength * levels[crowd.fragments], 0.0)[:, None] * rotate_about_z(aside, ahead)
            states, rows = arena.done(crowd, asked, force)
            down |= ~(arena.astray(crowd.fragments, rows) < FALL_HEIGHT_ERROR)
            each = fragment_cost(arena, crowd.fragments, arena.world.pose_of(states)[0], rows, asked)
            loss += np.where(down, _WORST, np.minimum(each, _WORST))
            states[down] = np.nan  # who fell costs no more time
            crowd = arena.next(states, rows, asked, self.lesson.after(crowd.fragments[:pairs], rng)[both])
        return loss, down, pushed, visited


def _perturbed_actions(
    policies: Policies, crowd: CopyBatch, gains: Array, actions: Array, both: Indices, side: Array
) -> Array:
    """(N, A) what policies a step aside ask for."""
    fragments, seen = crowd.fragments, np.nan_to_num(crowd.seen)
    more = np.einsum("nas,ns->na", gains[both, fragments], seen - policies.states[fragments])
    return policies.asked(fragments, seen) + side * (actions[both, fragments] + more)


def _momentum(last: Array, now: Array) -> Array:
    return np.asarray(_MEMORY * last + (1.0 - _MEMORY) * now)


def _adapt_push_levels(levels: Array, pushed: Indices, down: Array) -> Array:
    """(F,) newtons: harder where few were felled, less hard where many were."""
    found = np.array(levels)
    for fragment in np.unique(pushed):
        harder = np.sign(_FELLED - down[pushed == fragment].mean())
        found[fragment] *= np.exp(_HARDER * harder)
    return np.clip(found, _WEAKEST_N, _HARDEST_N)
