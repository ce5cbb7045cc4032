# SPDX-License-Identifier: GPL-3.0-or-later
"""Evolution strategies with antithetic perturbations (mirrored sampling), after regression: robustness to pushes.

Regression from examples finds feedback that is right on average. What makes a character fall is the rare state that the
average does not care about. So at last policies are executed without search. Copies come in antithetic pairs: the
policy parameters of both are perturbed by the same step, added to one and subtracted from the other, and both are
pushed alike. The difference of their costs estimates the gradient that the mean follows. Pushes adapt to what policies
just withstand.
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

_SIGMA = 0.01  # radians of action for a typical deviation: standard deviation of the perturbations
_LEARNING_RATE = 10.0
_MOMENTUM = 0.7
_WORST_COST = 4.0  # of a fragment at most, and of a copy that has fallen
_FALL_SHARE = 0.3  # of pushes that should end in a fall: pushes that all or none withstand have no gradient
_LEVEL_RATE = 0.15  # by how much, as an exponent, pushes adapt to keep it there
_WEAKEST_N, _HARDEST_N = 10.0, 1500.0
_FORWARD = 0.5  # the share of pushes along the facing direction; the others have random directions
_STEPS = 24  # fragments that a pair executes
_CLIP = 3.0  # standard deviations that differences of costs are clipped to


def count_update_steps() -> int:
    """How many steps an update takes at least, for progress."""
    return _STEPS


@dataclass(frozen=True, eq=False)
class EvolutionStrategy:
    """Policy search on the parameters of a stage's policies.

    starts: gives fragments (n,) to begin with. last_push_step: pushes come in steps 1 to this one.
    """

    simulator: FragmentSimulator
    stage: CurriculumStage
    symmetry: FragmentSymmetry
    starts: Callable[[int, np.random.Generator], Indices]
    last_push_step: int = 1

    def improve(
        self,
        policies: Policies,
        push_levels: Array,
        updates: int,
        rng: np.random.Generator,
        on_step: Callable[[], None],
    ) -> tuple[Policies, Array, float]:
        """Policies after so many updates, push levels (F,) newtons that they just withstand, and the share of falls."""
        own = self.stage.trainable[self.symmetry.structure.mirror_of[self.stage.trainable] == self.stage.trainable]
        gain_step, action_step = np.zeros_like(policies.gains), np.zeros_like(policies.actions)
        push_levels, fell = np.array(push_levels), 0.0
        for _ in range(updates):
            gains, actions = self._sample_perturbations(policies, own, rng)
            loss, down, pushed, visited = self._rollout_pairs(policies, gains, actions, push_levels, rng, on_step)
            pairs = len(gains)
            advantage = loss[pairs:] - loss[:pairs]
            advantage = np.clip(advantage / (advantage.std() + 1e-9), -_CLIP, _CLIP)
            # Scaled so that steps of rarely visited fragments are as noisy as all others.
            rate = _LEARNING_RATE / np.sqrt(np.maximum(visited.sum(0), 1) * pairs)
            weights = advantage[:, None] * visited
            gain_step = _add_momentum(gain_step, np.einsum("nf,nfas->fas", weights, gains) * rate[:, None, None])
            action_step = _add_momentum(action_step, np.einsum("nf,nfa->fa", weights, actions) * rate[:, None])
            policies = self.symmetry.symmetrize_policies(
                replace(policies, gains=policies.gains + gain_step, actions=policies.actions + action_step)
            )
            push_levels, fell = _adapt_push_levels(push_levels, pushed, down), float(down.mean())
        return policies, push_levels, fell

    def _sample_perturbations(self, policies: Policies, own: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """(n, F, A, S), (n, F, A): perturbations of gains and actions, of opposite sign for the two of a pair."""
        pairs, (count, acts, size) = self.simulator.world.copies // 2, policies.gains.shape
        gains, actions = np.zeros((pairs, count, acts, size)), np.zeros((pairs, count, acts))
        gains[:, own] = _SIGMA * rng.normal(size=(pairs, len(own), acts, size)) / self.simulator.features.scale
        actions[:, own] = _SIGMA * rng.normal(size=(pairs, len(own), acts))
        return self.symmetry.mirror_perturbations(gains, actions)

    def _rollout_pairs(
        self,
        policies: Policies,
        gains: Array,
        actions: Array,
        push_levels: Array,
        rng: np.random.Generator,
        on_step: Callable[[], None],
    ) -> tuple[Array, Array, Indices, Array]:
        """(N,) costs of walks, (N,) whether they fell, (N,) fragments of the pushes, and (n, F) visits of pairs."""
        simulator, pairs = self.simulator, len(gains)
        both = np.tile(np.arange(pairs), 2)
        side = np.repeat([1.0, -1.0], pairs)[:, None]
        batch = simulator.start(self.starts(pairs, rng), rng).select(both)
        when, strength = rng.integers(1, self.last_push_step + 1, pairs)[both], rng.uniform(0.5, 1.0, pairs)[both]
        direction = np.where(rng.random(pairs) < _FORWARD, 0.0, rng.uniform(0.0, 2.0 * np.pi, pairs))[both]
        pushed, visited = np.array(batch.fragments), np.zeros((pairs, len(policies)))
        loss, down = np.zeros(2 * pairs), np.zeros(2 * pairs, dtype=bool)
        for step in range(_STEPS + self.last_push_step - 1):
            on_step()
            visited[np.arange(pairs), self.symmetry.structure.mirror_of[batch.fragments[:pairs]]] = 1.0
            perturbed = policies.clip_actions(_perturbed_actions(policies, batch, gains, actions, both, side))
            now = when == step
            pushed[now] = batch.fragments[now]
            ahead = np.nan_to_num(simulator.facing_directions(batch.states))
            force = np.where(now, strength * push_levels[batch.fragments], 0.0)[:, None] * rotate_about_z(
                direction, ahead
            )
            states, rows = simulator.execute(batch, perturbed, force)
            down |= ~(simulator.height_error(batch.fragments, rows) < FALL_HEIGHT_ERROR)
            each = fragment_cost(simulator, batch.fragments, simulator.world.pose_of(states)[0], rows, perturbed)
            loss += np.where(down, _WORST_COST, np.minimum(each, _WORST_COST))
            states[down] = np.nan  # a fallen copy costs no more time
            batch = simulator.next_batch(
                states, rows, perturbed, self.stage.choose_next(batch.fragments[:pairs], rng)[both]
            )
        return loss, down, pushed, visited


def _perturbed_actions(
    policies: Policies, batch: CopyBatch, gains: Array, actions: Array, both: Indices, side: Array
) -> Array:
    """(N, A) radians, actions of the perturbed policies; side: (N, 1) the sign of each copy's perturbation."""
    fragments, observed = batch.fragments, np.nan_to_num(batch.observations)
    more = np.einsum("nas,ns->na", gains[both, fragments], observed - policies.states[fragments])
    return policies.unclipped_actions(fragments, observed) + side * (actions[both, fragments] + more)


def _add_momentum(last: Array, now: Array) -> Array:
    return np.asarray(_MOMENTUM * last + (1.0 - _MOMENTUM) * now)


def _adapt_push_levels(push_levels: Array, pushed: Indices, down: Array) -> Array:
    """(F,) newtons: harder where fewer copies than wanted fell, weaker where more did."""
    found = np.array(push_levels)
    for fragment in np.unique(pushed):
        harder = np.sign(_FALL_SHARE - down[pushed == fragment].mean())
        found[fragment] *= np.exp(_LEVEL_RATE * harder)
    return np.clip(found, _WEAKEST_N, _HARDEST_N)
