# SPDX-License-Identifier: GPL-3.0-or-later
"""What the policy earns (section 6.5): places and speeds of all links and of the centre of mass, times not falling.

What the paper does not have: feet that stand in the stream earn by not sliding.
"""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from .observations import TrackingState, link_velocity

# Scales at which a term has fallen to 1/e.
_POSE_M, _SPEED_M_S, _PLACE_M, _VELOCITY_M_S = 0.12, 1.2, 0.35, 0.5
_STANCE_M_S = 0.4
# The fall factor of the paper: clip(1.3 - 1.4 * metres between the heads, 0, 1).
_FALL_FROM, _FALL_PER_M = 1.3, 1.4


@dataclass(frozen=True)
class RewardWeights:
    """How much each term counts; all together 1. change: what a radian of change of the offsets costs, squared."""

    pose: float = 0.4
    speed: float = 0.15
    place: float = 0.1
    velocity: float = 0.25
    stance: float = 0.1
    change: float = 0.3


def tracking_rewards(
    state: TrackingState, before: TrackingState, change: Array, weights: RewardWeights, head: int
) -> tuple[dict[str, Array], Array]:
    """Terms (N,) by name, and rewards (N,). before: a control step ago. change: (N, A) of the offsets, radians."""
    streams = state.streams
    wanted = link_velocity(streams.link_pos[state.frame], streams.link_pos[before.frame])
    speed_error = link_velocity(state.link_pos, before.link_pos) - wanted
    feet = state.features.stance_links
    stands = streams.contacts[state.frame] & streams.contacts[before.frame]
    sliding = (speed_error[:, feet] ** 2).sum(-1) * stands
    terms = {
        "pose": _kernel(_mean_square(state.link_errors), _POSE_M),
        "speed": _kernel(_mean_square(speed_error), _SPEED_M_S),
        "place": _kernel((state.com_error**2).sum(-1), _PLACE_M),
        "velocity": _kernel(((state.velocity - state.features.velocity[state.frame]) ** 2).sum(-1), _VELOCITY_M_S),
        "stance": _kernel(sliding.sum(-1) / np.maximum(stands.sum(-1), 1), _STANCE_M_S),
    }
    falls = np.clip(_FALL_FROM - _FALL_PER_M * head_distance(state, head), 0.0, 1.0)
    sum_of_terms = sum(getattr(weights, name) * term for name, term in terms.items())
    terms["fall"] = falls
    terms["change"] = (change**2).mean(axis=-1)
    rewards = falls * sum_of_terms - weights.change * terms["change"]
    return {name: np.nan_to_num(term) for name, term in terms.items()}, np.nan_to_num(rewards)


def head_distance(state: TrackingState, head: int) -> Array:
    """(N,) metres between the simulated head and the stream's."""
    found: Array = np.linalg.norm(state.link_pos[:, head] - state.streams.link_pos[state.frame, head], axis=-1)
    return found


def _mean_square(vectors: Array) -> Array:
    found: Array = (vectors**2).sum(-1).mean(-1)
    return found


def _kernel(square: Array, scale: float) -> Array:
    found: Array = np.exp(-square / scale**2)
    return found
