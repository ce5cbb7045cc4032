# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's side of a shard: an environment, or another collector, that collects its part when it is told to."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learn.environment import Environment
from ...learn.requirement import require_torch
from ...learn.rollout import EnvironmentRunner, Rollout
from ...learn.shards import Collector, PolicyWeights

COLUMNS = ("observations", "actions", "means", "rewards", "terminated", "truncated")
"""What a part of a rollout is made of, besides ``next_observations``: arrays (T, n, ...)."""


class ShardHost:
    """Holds one environment. make: makes it of words and threads, which its physics uses. steps: of a part."""

    def __init__(
        self, make: Callable[..., Environment], threads: int, steps: int, rng: np.random.Generator, *words: Any
    ) -> None:
        self._runner = EnvironmentRunner(make(*words, threads), 0, rng)
        runner = self._runner
        self._rollout = Rollout(steps, runner.worlds, runner.observation_size, runner.action_size)
        require_torch()
        self._copy: Any = None

    def sizes(self) -> tuple[int, int, int]:
        """Worlds, observations and actions."""
        return self._runner.worlds, self._runner.observation_size, self._runner.action_size

    def collect(self, policy: PolicyWeights) -> dict[str, Any]:
        """The next part of a rollout, what was counted in it, and the seconds that it took."""
        from ...learn.acting import PolicyCopy

        began = time.perf_counter()
        if self._copy is None:
            self._copy = PolicyCopy(policy)
        self._copy.load(policy)
        runner, rollout = self._runner, self._rollout
        rollout.noise = self._copy.noise
        runner.collect(rollout, self._copy.act, self._copy.normaliser)
        return {
            **{name: getattr(rollout, name) for name in (*COLUMNS, "next_observations")},
            "truncations": runner.truncated,
            "statistics": runner.statistics,
            "episodes": runner.pop_statistics(),
            "seconds": time.perf_counter() - began,
        }

    def reset(self) -> None:
        """New episodes in all worlds."""
        self._runner.reset()

    def change(self, name: str, *words: Any) -> None:
        """Call a method of the environment."""
        self._runner.change(name, *words)

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it as plain arrays."""
        return self._runner.state()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._runner.restore(arrays)


class CollectorHost:
    """Holds one collector. make: makes it of words and threads, which its physics uses."""

    def __init__(self, make: Callable[..., Collector], threads: int, *words: Any) -> None:
        self._collector = make(*words, threads)

    def collect(self, *words: Any) -> dict[str, Any]:
        """The next part, and the seconds that it took."""
        began = time.perf_counter()
        part = self._collector.collect(*words)
        return {"part": part, "seconds": time.perf_counter() - began}

    def change(self, name: str, *words: Any) -> None:
        """Call a method of the collector."""
        getattr(self._collector, name)(*words)

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it as plain arrays."""
        return dict(self._collector.state())

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._collector.restore(arrays)
