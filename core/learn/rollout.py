# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts: environments act for some steps, each in a thread of its own, into buffers that are allocated once.

An environment's physics lets other threads run, and so do the networks. With one environment for each core none waits
for another before the horizon is reached, and the result does not depend on which was faster.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .advantages import Rows
from .environment import Environment, Flags, Floats, StepResult
from .episode_statistics import EpisodeCounter, EpisodeStatistics
from .normaliser import Normaliser, RunningStatistics
from .randomness import generator_state, restore_generator
from .shards import EnvironmentMaker, PolicyWeights, Shard, ShardSpreader

Act = Callable[[Rows], Rows]
"""Normalised observations (n, O) -> the policy's actions without noise (n, A); called from several threads at once."""


class Rollout:
    """T control steps of N worlds, in arrays that are filled again and again.

    observations: (T, N, O) normalised. actions: (T, N, A) as taken; means: (T, N, A) before noise; noise: (A,) the
    standard deviations. rewards: (T, N). terminated, truncated: (T, N).
    next_observations: (N, O) normalised, after the last step. truncated_observations: (C, O) normalised final
    observations of the episodes that were truncated and did not terminate, in the order of ``np.nonzero``.
    """

    def __init__(self, steps: int, worlds: int, observation_size: int, action_size: int) -> None:
        self.observations = np.zeros((steps, worlds, observation_size), dtype=np.float32)
        self.actions = np.zeros((steps, worlds, action_size), dtype=np.float32)
        self.means = np.zeros_like(self.actions)
        self.noise = np.ones(action_size, dtype=np.float32)
        self.rewards = np.zeros((steps, worlds), dtype=np.float32)
        self.terminated: Flags = np.zeros((steps, worlds), dtype=bool)
        self.truncated: Flags = np.zeros((steps, worlds), dtype=bool)
        self.next_observations = np.zeros((worlds, observation_size), dtype=np.float32)
        self.truncated_observations = np.zeros((0, observation_size), dtype=np.float32)

    @property
    def samples(self) -> int:
        """T * N."""
        return self.rewards.size


class EnvironmentRunner:
    """One environment in this process, and its columns of the rollout; implements ``shards.Shard``."""

    def __init__(self, environment: Environment, first: int, rng: np.random.Generator) -> None:
        self.environment = environment
        self.worlds, self.observation_size = environment.worlds, environment.observation_size
        self.action_size = environment.action_size
        self.columns = slice(first, first + environment.worlds)
        self.first = first
        self.rng = rng
        self.reset()
        self.statistics = RunningStatistics.empty(environment.observation_size)
        self.truncated: list[tuple[int, NDArray[np.intp], Rows]] = []

    def reset(self) -> None:
        """New episodes in all of its worlds; those that are broken off are not counted."""
        self.episodes = EpisodeCounter(self.environment.worlds, self.environment.end_reasons)
        self.observations: Floats = self.environment.reset()

    def pop_statistics(self) -> EpisodeStatistics:
        """The statistics of the episodes since the last call."""
        return self.episodes.pop_statistics()

    def change(self, name: str, *words: Any) -> None:
        """Call a method of the environment that changes its state."""
        getattr(self.environment, name)(*words)

    configure = change

    def state(self) -> dict[str, NDArray[Any]]:
        """The environment, its running episodes and its randomness as plain arrays."""
        arrays = {f"environment.{name}": array for name, array in self.environment.state().items()}
        arrays |= {f"tally.{name}": array for name, array in self.episodes.state().items()}
        return arrays | {"noise": generator_state(self.rng)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self.observations = self.environment.restore(arrays_under("environment.", arrays))
        self.episodes.restore(arrays_under("tally.", arrays))
        restore_generator(self.rng, arrays["noise"])

    def collect(self, rollout: Rollout, act: Act, normaliser: Normaliser) -> None:
        """Fill this environment's columns."""
        self.truncated, self.statistics = [], RunningStatistics.empty(self.environment.observation_size)
        noise = self.rng.standard_normal((len(rollout.actions), *rollout.actions[0, self.columns].shape), np.float32)
        noise *= rollout.noise
        for step in range(len(rollout.rewards)):
            self.statistics += RunningStatistics.from_rows(self.observations)
            means = act(normaliser(self.observations, out=rollout.observations[step, self.columns]))
            rollout.means[step, self.columns] = means
            actions = np.add(means, noise[step], out=rollout.actions[step, self.columns])
            result = self.environment.step(actions)
            self.episodes.add(result)
            rollout.rewards[step, self.columns] = result.rewards
            rollout.terminated[step, self.columns] = result.terminated
            rollout.truncated[step, self.columns] = result.truncated
            self._keep_truncated(step, result, normaliser)
            self.observations = result.observations
        normaliser(self.observations, out=rollout.next_observations[self.columns])

    def _keep_truncated(self, step: int, result: StepResult, normaliser: Normaliser) -> None:
        worlds = np.nonzero(result.truncated & ~result.terminated)[0]
        if len(worlds):
            self.truncated.append((step, self.first + worlds, normaliser(result.final_observations[worlds])))


class RolloutCollector:
    """Environments side by side that fill one rollout, each with randomness of its own.

    spreader: where they are to be, if not here; it makes them by makers of environments.
    """

    def __init__(
        self,
        environments: Sequence[Environment] | Sequence[EnvironmentMaker],
        steps: int,
        rng: np.random.Generator,
        spreader: ShardSpreader | None = None,
    ) -> None:
        generators, self._spreader = rng.spawn(len(environments)), spreader
        self.shards: list[Shard] = []
        if spreader is not None:
            self.shards += spreader.spread(cast(Sequence[EnvironmentMaker], environments), steps, generators)
        here = cast(Sequence[Environment], () if spreader is not None else environments)
        sizes = {(one.observation_size, one.action_size) for one in cast(Sequence[Shard], [*self.shards, *here])}
        if len(sizes) != 1:
            raise ValueError("environments that learn together must have the same observations and actions")
        self.observation_size, self.action_size = sizes.pop()
        counts = [*(one.worlds for one in self.shards), *(one.worlds for one in here)]
        self.worlds, firsts = sum(counts), np.cumsum([0, *counts[:-1]]).tolist()
        self._runners: list[EnvironmentRunner] = []
        if spreader is None:
            self._runners = [EnvironmentRunner(*each) for each in zip(here, firsts, generators, strict=True)]
            self.shards += self._runners
        for shard, first in zip(self.shards, firsts, strict=True):
            shard.first = first
        self.rollout = Rollout(steps, self.worlds, self.observation_size, self.action_size)

    def collect(
        self,
        act: Act,
        noise: NDArray[np.float32],
        normaliser: Normaliser,
        policy: PolicyWeights | None = None,
    ) -> tuple[Rollout, RunningStatistics, EpisodeStatistics]:
        """Act in all worlds for the rollout's steps; gives it with the statistics of observations and episodes.

        policy: the same policy, for shards that are elsewhere.
        """
        self.rollout.noise = noise
        if self._spreader is not None:
            assert policy is not None
            self._spreader.collect(self.shards, self.rollout, policy)
        elif len(self._runners) == 1:
            self._runners[0].collect(self.rollout, act, normaliser)
        else:
            with ThreadPoolExecutor(len(self._runners)) as pool:
                waiting = [pool.submit(one.collect, self.rollout, act, normaliser) for one in self._runners]
                for one in waiting:
                    one.result()
        self._join_truncated()
        for name in ("observations", "rewards", "next_observations", "truncated_observations"):
            if not np.isfinite(getattr(self.rollout, name)).all():
                raise ValueError(f"the environment gave {name} that are no numbers")
        observed, episodes = self.shards[0].statistics, self.shards[0].pop_statistics()
        for shard in self.shards[1:]:
            observed, episodes = observed + shard.statistics, episodes + shard.pop_statistics()
        return self.rollout, observed, episodes

    def _join_truncated(self) -> None:
        # Environments come in the order of their worlds, so this is the order of ``np.nonzero``.
        entries = (entry for shard in self.shards for entry in shard.truncated)
        ordered = sorted(entries, key=lambda entry: (entry[0], entry[1][0]))
        none = np.zeros((0, self.observation_size), np.float32)
        self.rollout.truncated_observations = np.concatenate([none, *(rows for *_, rows in ordered)])

    def reset(self) -> None:
        """New episodes in all worlds."""
        for shard in self.shards:
            shard.reset()

    def state(self) -> dict[str, NDArray[Any]]:
        """The environments, their running episodes and their randomness as plain arrays."""
        states = enumerate(shard.state() for shard in self.shards)
        return {f"{number}.{name}": array for number, state in states for name, array in state.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        for number, shard in enumerate(self.shards):
            shard.restore(arrays_under(f"{number}.", arrays))


def arrays_under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
