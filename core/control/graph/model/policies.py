# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear feedback, one policy for each fragment, and its regression from examples (control graphs, 5.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....geometry.quaternions import Array
from .fragments import Indices

INITIAL_STD = np.radians(5.0)
"""How widely actions are tried where nothing is known yet."""
_MIN_STD = np.radians(0.5)
MAX_ACTION = 1.0
"""Radians from the open-loop targets: beyond that nobody stands any more."""
_RIDGE = 1e-3  # of the number of examples, for states in units of their scale


@dataclass(frozen=True, eq=False)
class Policies:
    """Feedback for F fragments: action = around[1] + gains @ (state - around[0]).

    gains: (F, A, S). states: (F, S) and actions: (F, A): the averages that the line goes through, so that the paper's
    affine term is actions - gains @ states. spreads: (F, A) radians, what examples scatter around it.
    """

    gains: Array
    states: Array
    actions: Array
    spreads: Array

    def __len__(self) -> int:
        return len(self.gains)

    def asked(self, fragments: Indices, seen: Array) -> Array:
        """(N, A) radians for states (N, S) at the starts of fragments (N,), however much that is."""
        aside = np.einsum("nas,ns->na", self.gains[fragments], seen - self.states[fragments])
        return np.asarray(self.actions[fragments] + aside)

    @staticmethod
    def held(asked: Array) -> Array:
        """(N, A) radians within what is ever done."""
        return np.clip(asked, -MAX_ACTION, MAX_ACTION)

    def means(self, fragments: Indices, seen: Array) -> Array:
        """(N, A) radians for states (N, S) at the starts of fragments (N,)."""
        return self.held(self.asked(fragments, seen))

    def with_fragments(self, fragments: Indices, other: "Policies") -> "Policies":
        """These policies, with those of ``other`` (one for each of the fragments) in their places."""
        parts = {}
        for name in ("gains", "states", "actions", "spreads"):
            values = np.array(getattr(self, name))
            values[fragments] = getattr(other, name)
            parts[name] = values
        return Policies(**parts)

    def distance(self, other: "Policies", scale: Array, fragments: Indices) -> float:
        """How far two are apart: the mean change of fragments' gains, in radians a typical deviation (scale: (S,))."""
        return float(np.abs((self.gains[fragments] - other.gains[fragments]) * scale).mean())


def zero_policies(states: Array, actions: int) -> Policies:
    """No feedback yet, around states (F, S)."""
    count, size = states.shape
    return Policies(
        np.zeros((count, actions, size)),
        np.array(states),
        np.zeros((count, actions)),
        np.full((count, actions), INITIAL_STD),
    )


def regress_policy(states: Array, actions: Array, scale: Array) -> Policies:
    """The policy (of one fragment) that explains examples best: states (N, S), actions (N, A) (equations 14 to 19)."""
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
