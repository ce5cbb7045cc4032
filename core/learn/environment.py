# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment protocol: N worlds side by side that take actions and give observations and rewards, in arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
"""Numbers of float32 or float64: an environment may hand over either."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StepResult:
    """The outcome of one control step in N worlds. A world whose episode ended has begun a new one already.

    observations: (N, O) what to act on next; where an episode ended, the first of the next one.
    reward_terms: each (N,), by name, for the learning curve.
    rewards: (N,) what is learned from.
    terminated: (N,) the episode ended for good and has no value any more: a fall, a violated bound.
    truncated: (N,) the episode was cut though it could have gone on: a time limit, the end of a reference. Its value is
        bootstrapped from ``final_observations``. A world that is both counts as terminated.
    final_observations: (N, O) as they were before any new episode began; equal to ``observations`` where none ended.
    end_reasons: (N,) index into the environment's ``end_reasons`` where an episode ended, and -1 where it goes on.
    """

    observations: Floats
    reward_terms: Mapping[str, Floats]
    rewards: Floats
    terminated: Flags
    truncated: Flags
    final_observations: Floats
    end_reasons: NDArray[np.integer[Any]]


class Environment(Protocol):
    """N worlds to learn in.

    worlds: N. observation_size: O. action_size: A. end_reasons: why episodes can end, in words.

    Arrays that are handed over stay as they are until the next ``step``; the collector copies what it keeps.
    All randomness comes from a generator of the environment's own, so that the same actions from the same state give
    the same results, bit for bit.
    """

    worlds: int
    observation_size: int
    action_size: int
    end_reasons: tuple[str, ...]

    def reset(self) -> Floats:
        """(N, O) the first observations of new episodes in all worlds."""

    def step(self, actions: Floats) -> StepResult:
        """Act with (N, A), as the policy gives them: any number, near zero before anything is learned."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen, as plain arrays without objects: worlds, buffers, generator."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave, and give (N, O) the observations as they were then."""
