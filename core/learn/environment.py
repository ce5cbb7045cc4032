# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is to learn in: N worlds side by side that take actions and say what came of them, all in arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
"""Numbers of float32 or float64: an environment may hand over either."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Transition:
    """What one control step did to N worlds. A world whose episode ended has begun a new one already.

    observations: (N, O) what to act on next; where an episode ended, the first of the next one.
    rewards: the terms by name, each (N,), for the record and the curves.
    total: (N,) what is learned from.
    terminated: (N,) the episode ended for good and nothing more could be earned: a fall, a violated bound.
    truncated: (N,) the episode was cut though it could have gone on: a time limit, a reference that was over. What it
        would have earned is estimated from ``last_observations``. A world that is both counts as terminated.
    last_observations: (N, O) as they were before any new episode began; equal to ``observations`` where none ended.
    why: (N,) index into the environment's ``reasons`` where an episode ended, and -1 where it goes on.
    """

    observations: Floats
    rewards: Mapping[str, Floats]
    total: Floats
    terminated: Flags
    truncated: Flags
    last_observations: Floats
    why: NDArray[np.integer[Any]]


class Environment(Protocol):
    """N worlds to learn in.

    worlds: N. observation_size: O. action_size: A. reasons: why episodes can end, in words.

    Arrays that are handed over stay as they are until the next ``step``; the learner copies what it keeps.
    All randomness comes from a generator of the environment's own, so that the same actions from the same state give
    the same transitions, bit for bit.
    """

    worlds: int
    observation_size: int
    action_size: int
    reasons: tuple[str, ...]

    def start(self) -> Floats:
        """(N, O) the first observations of new episodes in all worlds."""

    def step(self, actions: Floats) -> Transition:
        """Act with (N, A), as the policy gives them: any number, near zero where it knows nothing."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides what will happen, as plain arrays without objects: worlds, buffers, generator."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave, and give (N, O) the observations as they were then."""
