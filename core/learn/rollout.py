# SPDX-License-Identifier: GPL-3.0-or-later
"""Collecting experience: every environment acts for some steps in a thread of its own, into arrays made once.

An environment's physics lets other threads run, and so do the networks. With one environment for each core nobody waits
for anybody before the horizon is reached, and the result does not depend on who was faster.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .advantages import Rows
from .environment import Environment, Flags, Floats, Transition
from .episode_statistics import Sums, Tally
from .normalising import Moments, Normaliser
from .randomness import generator_state, restore_generator

Act = Callable[[Rows], Rows]
"""Normalised observations (n, O) -> the policy's actions without noise (n, A); called from several threads at once."""


class Rollout:
    """What N worlds did in T control steps; arrays that are filled again and again.

    observations: (T, N, O) normalised. actions: (T, N, A) as taken; means: (T, N, A) before noise; noise: (A,) the
    standard deviations. rewards: (T, N). terminated, truncated: (T, N).
    after: (N, O) normalised observations after the last step. cut: (C, O) normalised last observations of the
    episodes that were truncated and did not terminate, in the order of ``np.nonzero``.
    """

    def __init__(self, steps: int, worlds: int, observation_size: int, action_size: int) -> None:
        self.observations = np.zeros((steps, worlds, observation_size), dtype=np.float32)
        self.actions = np.zeros((steps, worlds, action_size), dtype=np.float32)
        self.means = np.zeros_like(self.actions)
        self.noise = np.ones(action_size, dtype=np.float32)
        self.rewards = np.zeros((steps, worlds), dtype=np.float32)
        self.terminated: Flags = np.zeros((steps, worlds), dtype=bool)
        self.truncated: Flags = np.zeros((steps, worlds), dtype=bool)
        self.after = np.zeros((worlds, observation_size), dtype=np.float32)
        self.cut = np.zeros((0, observation_size), dtype=np.float32)

    @property
    def samples(self) -> int:
        """How many control steps it holds."""
        return self.rewards.size


class _Part:
    """One environment, and its columns of the rollout."""

    def __init__(self, environment: Environment, first: int, rng: np.random.Generator) -> None:
        self.environment = environment
        self.columns = slice(first, first + environment.worlds)
        self.first = first
        self.rng = rng
        self.tally = Tally(environment.worlds, environment.reasons)
        self.observations: Floats = environment.start()
        self.seen = Moments.none(environment.observation_size)
        self.cut: list[tuple[int, NDArray[np.intp], Rows]] = []

    def begin_anew(self) -> None:
        """New episodes in all of its worlds; those that are cut off are not counted."""
        self.tally = Tally(self.environment.worlds, self.environment.reasons)
        self.observations = self.environment.start()

    def collect(self, rollout: Rollout, act: Act, normaliser: Normaliser) -> None:
        """Fill this environment's columns."""
        self.cut, self.seen = [], Moments.none(self.environment.observation_size)
        noise = self.rng.standard_normal((len(rollout.actions), *rollout.actions[0, self.columns].shape), np.float32)
        noise *= rollout.noise
        for step in range(len(rollout.rewards)):
            self.seen += Moments.of(self.observations)
            seen = normaliser(self.observations, out=rollout.observations[step, self.columns])
            means = act(seen)
            rollout.means[step, self.columns] = means
            actions = np.add(means, noise[step], out=rollout.actions[step, self.columns])
            done = self.environment.step(actions)
            self.tally.add(done)
            rollout.rewards[step, self.columns] = done.total
            rollout.terminated[step, self.columns] = done.terminated
            rollout.truncated[step, self.columns] = done.truncated
            self._keep_cut(step, done, normaliser)
            self.observations = done.observations
        normaliser(self.observations, out=rollout.after[self.columns])

    def _keep_cut(self, step: int, done: Transition, normaliser: Normaliser) -> None:
        worlds = np.nonzero(done.truncated & ~done.terminated)[0]
        if len(worlds):
            self.cut.append((step, self.first + worlds, normaliser(done.last_observations[worlds])))


class Collector:
    """Environments side by side that fill one rollout, each with randomness of its own."""

    def __init__(self, environments: Sequence[Environment], steps: int, rng: np.random.Generator) -> None:
        sizes = {(one.observation_size, one.action_size) for one in environments}
        if len(sizes) != 1:
            raise ValueError("environments that learn together must have the same observations and actions")
        self.observation_size, self.action_size = sizes.pop()
        self.worlds = sum(one.worlds for one in environments)
        firsts = np.cumsum([0, *(one.worlds for one in environments[:-1])]).tolist()
        generators = rng.spawn(len(environments))
        self._parts = [_Part(*both) for both in zip(environments, firsts, generators, strict=True)]
        self.rollout = Rollout(steps, self.worlds, self.observation_size, self.action_size)

    def collect(self, act: Act, noise: NDArray[np.float32], normaliser: Normaliser) -> tuple[Rollout, Moments, Sums]:
        """Act in all worlds for the rollout's steps; gives it with the moments of what was observed and the tally."""
        self.rollout.noise = noise
        if len(self._parts) == 1:
            self._parts[0].collect(self.rollout, act, normaliser)
        else:
            with ThreadPoolExecutor(len(self._parts)) as pool:
                for waiting in [pool.submit(one.collect, self.rollout, act, normaliser) for one in self._parts]:
                    waiting.result()
        # Environments come in the order of their worlds, so this is the order of ``np.nonzero``.
        cut = sorted((entry for part in self._parts for entry in part.cut), key=lambda entry: (entry[0], entry[1][0]))
        self.rollout.cut = np.concatenate(
            [np.zeros((0, self.observation_size), np.float32), *(rows for *_, rows in cut)]
        )
        for name in ("observations", "rewards", "after", "cut"):
            if not np.isfinite(getattr(self.rollout, name)).all():
                raise ValueError(f"the environment gave {name} that are no numbers")
        seen, sums = self._parts[0].seen, self._parts[0].tally.take()
        for part in self._parts[1:]:
            seen, sums = seen + part.seen, sums + part.tally.take()
        return self.rollout, seen, sums

    def begin_anew(self) -> None:
        """New episodes in all worlds."""
        for part in self._parts:
            part.begin_anew()

    def state(self) -> dict[str, NDArray[Any]]:
        """The environments, their running episodes and their randomness as plain arrays."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, part in enumerate(self._parts):
            arrays |= {f"{number}.environment.{name}": array for name, array in part.environment.state().items()}
            arrays |= {f"{number}.tally.{name}": array for name, array in part.tally.state().items()}
            arrays[f"{number}.noise"] = generator_state(part.rng)
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        for number, part in enumerate(self._parts):
            part.observations = part.environment.restore(_under(f"{number}.environment.", arrays))
            part.tally.restore(_under(f"{number}.tally.", arrays))
            restore_generator(part.rng, arrays[f"{number}.noise"])


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
