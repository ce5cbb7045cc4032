# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear feedback policies, one for each control fragment, and their regression (equations 2 and 14 to 19)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....geometry.quaternions import Array
from .fragments import Indices

INITIAL_STD = np.radians(5.0)
"""Radians: sigma_0, the exploration of policies that are still zero (5.4)."""
_MIN_STD = np.radians(0.5)
MAX_ACTION = 1.0
"""Radians from the open-loop targets, beyond which feedback never kept a character up."""
_RIDGE = 1e-3  # lambda of equation 19, for each example, for states in units of their scale


@dataclass(frozen=True, eq=False)
class Policies:
    """Policies of F fragments: action = actions + gains @ (state - states) (equation 2).

    gains: (F, A, S), the paper's M. states: (F, S) and actions: (F, A): averages of the tuples, so that the affine term
    is actions - gains @ states (equation 15). spreads: (F, A) radians, the square root of diag(Sigma) (equation 16).
    """

    gains: Array
    states: Array
    actions: Array
    spreads: Array

    def __len__(self) -> int:
        return len(self.gains)

    def unclipped_actions(self, fragments: Indices, observations: Array) -> Array:
        """(N, A) radians for states (N, S) at the starts of fragments (N,), not limited to ``MAX_ACTION``."""
        aside = np.einsum("nas,ns->na", self.gains[fragments], observations - self.states[fragments])
        return np.asarray(self.actions[fragments] + aside)

    @staticmethod
    def clip_actions(actions: Array) -> Array:
        """(N, A) radians within ``MAX_ACTION``."""
        return np.clip(actions, -MAX_ACTION, MAX_ACTION)

    def mean_actions(self, fragments: Indices, observations: Array) -> Array:
        """(N, A) radians for states (N, S) at the starts of fragments (N,): the mean of equation 5."""
        return self.clip_actions(self.unclipped_actions(fragments, observations))

    def with_fragments(self, fragments: Indices, other: "Policies") -> "Policies":
        """These policies, with those of ``other`` (one for each of the fragments) in their places."""
        parts = {}
        for name in ("gains", "states", "actions", "spreads"):
            values = np.array(getattr(self, name))
            values[fragments] = getattr(other, name)
            parts[name] = values
        return Policies(**parts)

    def mean_gain_change(self, other: "Policies", scale: Array, fragments: Indices) -> float:
        """Convergence (6.1): mean change of fragments' gains, in radians for a typical deviation (scale: (S,))."""
        return float(np.abs((self.gains[fragments] - other.gains[fragments]) * scale).mean())


def zero_policies(states: Array, actions: int) -> Policies:
    """Policies without feedback around states (F, S), with initial exploration (Algorithm 2, line 5)."""
    count, size = states.shape
    return Policies(
        np.zeros((count, actions, size)),
        np.array(states),
        np.zeros((count, actions)),
        np.full((count, actions), INITIAL_STD),
    )


def regress_policy(states: Array, actions: Array, scale: Array) -> Policies:
    """The policy of one fragment by ridge regression on states (N, S) and actions (N, A) (equations 14 to 19)."""
    mean_state, mean_action = states.mean(0), actions.mean(0)
    aside, moved = (states - mean_state) / scale, actions - mean_action
    square = aside.T @ aside + _RIDGE * len(states) * np.eye(len(scale))
    gains = np.linalg.solve(square, aside.T @ moved).T
    rest = moved - aside @ gains.T
    spread = np.maximum(np.sqrt((rest**2).mean(0)), _MIN_STD)
    return Policies((gains / scale)[None], mean_state[None], mean_action[None], spread[None])


def stack_policies(found: Sequence[Policies]) -> Policies:
    """Policies of single fragments as one."""
    return Policies(*(np.concatenate([getattr(one, name) for one in found]) for name in vars(found[0])))


def mirror_policies(policies: Policies, state: Array, action: Array) -> Policies:
    """The policies of the mirror images; state: (S, S), action: (A, A) are the mirror's matrices."""
    return replace(
        policies,
        gains=action @ policies.gains @ np.linalg.inv(state),
        states=policies.states @ state.T,
        actions=policies.actions @ action.T,
        spreads=np.abs(policies.spreads @ np.abs(action).T),
    )
