# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts: environments act for some steps, each in a thread of its own, into buffers that are allocated once.

An environment's physics lets other threads run, and so do the networks. With one environment for each core none waits
for another before the horizon is reached, and the result does not depend on which was faster.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .advantages import Rows
from .environment import Environment, Flags, Floats, StepResult
from .episode_statistics import EpisodeCounter, EpisodeStatistics
from .normaliser import Normaliser, RunningStatistics
from .randomness import generator_state, restore_generator

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


class _EnvironmentRunner:
    """One environment, and its columns of the rollout."""

    def __init__(self, environment: Environment, first: int, rng: np.random.Generator) -> None:
        self.environment = environment
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
    """Environments side by side that fill one rollout, each with randomness of its own."""

    def __init__(self, environments: Sequence[Environment], steps: int, rng: np.random.Generator) -> None:
        sizes = {(one.observation_size, one.action_size) for one in environments}
        if len(sizes) != 1:
            raise ValueError("environments that learn together must have the same observations and actions")
        self.observation_size, self.action_size = sizes.pop()
        self.worlds = sum(one.worlds for one in environments)
        firsts = np.cumsum([0, *(one.worlds for one in environments[:-1])]).tolist()
        generators = rng.spawn(len(environments))
        self._runners = [_EnvironmentRunner(*each) for each in zip(environments, firsts, generators, strict=True)]
        self.rollout = Rollout(steps, self.worlds, self.observation_size, self.action_size)

    def collect(
        self, act: Act, noise: NDArray[np.float32], normaliser: Normaliser
    ) -> tuple[Rollout, RunningStatistics, EpisodeStatistics]:
        """Act in all worlds for the rollout's steps; gives it with the statistics of observations and episodes."""
        self.rollout.noise = noise
        if len(self._runners) == 1:
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
        observed, episodes = self._runners[0].statistics, self._runners[0].episodes.pop_statistics()
        for runner in self._runners[1:]:
            observed, episodes = observed + runner.statistics, episodes + runner.episodes.pop_statistics()
        return self.rollout, observed, episodes

    def _join_truncated(self) -> None:
        # Environments come in the order of their worlds, so this is the order of ``np.nonzero``.
        entries = (entry for runner in self._runners for entry in runner.truncated)
        ordered = sorted(entries, key=lambda entry: (entry[0], entry[1][0]))
        none = np.zeros((0, self.observation_size), np.float32)
        self.rollout.truncated_observations = np.concatenate([none, *(rows for *_, rows in ordered)])

    def reset(self) -> None:
        """New episodes in all worlds."""
        for runner in self._runners:
            runner.reset()

    def state(self) -> dict[str, NDArray[Any]]:
        """The environments, their running episodes and their randomness as plain arrays."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, runner in enumerate(self._runners):
            arrays |= {f"{number}.environment.{name}": array for name, array in runner.environment.state().items()}
            arrays |= {f"{number}.tally.{name}": array for name, array in runner.episodes.state().items()}
            arrays[f"{number}.noise"] = generator_state(runner.rng)
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        for number, runner in enumerate(self._runners):
            runner.observations = runner.environment.restore(arrays_under(f"{number}.environment.", arrays))
            runner.episodes.restore(arrays_under(f"{number}.tally.", arrays))
            restore_generator(runner.rng, arrays[f"{number}.noise"])


def arrays_under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
