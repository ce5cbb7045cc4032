# SPDX-License-Identifier: GPL-3.0-or-later
"""Shards: environments whose rollouts may be collected elsewhere, and what they need for it.

A shard is one environment with randomness of its own, wherever it is. So the same shards give the same rollouts, and a
training the same weights, whether they are threads of this process or processes on other machines of the same kind.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .environment import Environment
from .episode_statistics import EpisodeStatistics
from .normaliser import RunningStatistics
from .threads import count_threads

if TYPE_CHECKING:
    from .rollout import Rollout


class EnvironmentMaker(Protocol):
    """Makes an environment, the same one each time; it is sent to where the environment is to be."""

    def __call__(self, threads: int) -> Environment:
        """The environment; its physics uses so many threads, which changes no result."""


class _Closable(Protocol):
    def close(self) -> None: ...


class _HasWorld(Protocol):
    @property
    def world(self) -> _Closable: ...


_Simulated = TypeVar("_Simulated", bound=_HasWorld)


def make_local_environments(
    makers: Sequence[Callable[[int], _Simulated]], threads: int, opened: ExitStack
) -> tuple[_Simulated, ...]:
    """The environment of every shard in this process, with its part of the threads (0: one each core).

    opened: what closes their worlds; also those that were made before one that could not be.
    """
    share, made = max(1, count_threads(threads) // len(makers)), list[_Simulated]()
    for maker in makers:
        made.append(maker(share))
        opened.enter_context(closing(made[-1].world))
    return tuple(made)


@dataclass(frozen=True, eq=False)
class PolicyWeights:
    """All that acting with a policy takes, as it is sent to shards once an update.

    sizes: units of the layers, observations first. weights: all of them in one row. noise: (A,) standard deviations.
    statistics: of the observations, which are normalised by them.
    """

    sizes: tuple[int, ...]
    activation: str
    output_scale: float
    weights: NDArray[np.float32]
    noise: NDArray[np.float32]
    statistics: RunningStatistics


class Shard(Protocol):
    """An environment that collects its columns of a rollout, here or elsewhere."""

    worlds: int
    observation_size: int
    action_size: int
    first: int
    """Its first column of the rollout."""
    statistics: RunningStatistics
    """Of the observations of its newest part."""
    truncated: list[tuple[int, NDArray[np.intp], NDArray[np.float32]]]
    """(step, columns, final observations) of the episodes that were truncated in it, in order."""

    def pop_statistics(self) -> EpisodeStatistics:
        """The statistics of the episodes in its newest part."""

    def reset(self) -> None:
        """New episodes in all of its worlds."""

    def change(self, name: str, *words: Any) -> None:
        """Call a method of the environment that changes what ``state`` gives."""

    def configure(self, name: str, *words: Any) -> None:
        """Call a method of the environment that sets what ``state`` does not know; the last call of a name counts."""

    def state(self) -> dict[str, NDArray[Any]]:
        """The environment, its running episodes and its randomness as plain arrays."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""


class Collector(Protocol):
    """What collects rows of another kind than a ``Trainer``'s, a part at a time, with randomness of its own."""

    def collect(self, *words: Any) -> Any:
        """The next part."""

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Everything that decides what it collects next, as plain arrays."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""


class CollectorMaker(Protocol):
    """Makes a collector, the same one each time; it is sent to where the collector is to be."""

    def __call__(self, threads: int) -> Collector:
        """The collector; its physics uses so many threads, which changes no result."""


class ShardSpreader(Protocol):
    """Puts shards elsewhere, and collects from all of them at once.

    What makers made with ``functools.partial`` share is sent once.
    """

    def spread(
        self, makers: Sequence[EnvironmentMaker], steps: int, generators: Sequence[np.random.Generator]
    ) -> Sequence[Shard]:
        """A shard for each maker, with a generator for its noise; parts of rollouts have so many steps."""

    def collect(self, shards: Sequence[Shard], rollout: "Rollout", policy: PolicyWeights) -> None:
        """Fill the columns of all shards with what the policy does there."""

    def place(self, makers: Sequence[CollectorMaker]) -> Sequence[Collector]:
        """A collector for each maker."""

    def collect_parts(self, collectors: Sequence[Collector], *words: Any) -> list[Any]:
        """The next part of each, all told the same."""

    def note_learning(self, seconds: float) -> None:
        """Be told how long learning from the newest parts took, to tell it from what spreading costs."""

    def describe(self) -> dict[str, Any]:
        """What it cost so far, as plain values."""
