# SPDX-License-Identifier: GPL-3.0-or-later
"""Episode statistics, counted while episodes run: lengths, returns, means of reward terms, and why episodes ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .environment import StepResult


class EpisodeCounter:
    """Counts the episodes of N worlds that end between two calls of ``pop_statistics``."""

    def __init__(self, worlds: int, end_reasons: Sequence[str]) -> None:
        self._end_reasons = tuple(end_reasons)
        self._steps = np.zeros(worlds, dtype=np.int64)
        self._returns_so_far = np.zeros(worlds)
        self._clear()

    def _clear(self) -> None:
        self._reward_terms: dict[str, float] = {}
        self._lengths: list[NDArray[np.int64]] = []
        self._returns: list[NDArray[np.float64]] = []
        self._endings = np.zeros(len(self._end_reasons) + 1, dtype=np.int64)
        self._samples = 0

    def add(self, step: StepResult) -> None:
        """Count one control step of all worlds."""
        self._steps += 1
        self._returns_so_far += step.rewards
        self._samples += len(self._steps)
        for name, term in step.reward_terms.items():
            self._reward_terms[name] = self._reward_terms.get(name, 0.0) + float(np.sum(term, dtype=np.float64))
        ended = np.nonzero(step.terminated | step.truncated)[0]
        if len(ended):
            self._lengths.append(self._steps[ended])
            self._returns.append(self._returns_so_far[ended])
            # An end without a reason (-1) is counted in the last place, under no name.
            places = len(self._endings)
            self._endings += np.bincount(step.end_reasons[ended] % places, minlength=places)
            self._steps[ended] = 0
            self._returns_so_far[ended] = 0.0

    def pop_statistics(self) -> "EpisodeStatistics":
        """What was counted, which is then cleared; episodes that still run go on being counted."""
        statistics = EpisodeStatistics(
            self._samples,
            dict(self._reward_terms),
            np.concatenate(self._lengths) if self._lengths else np.zeros(0, dtype=np.int64),
            np.concatenate(self._returns) if self._returns else np.zeros(0),
            dict(zip(self._end_reasons, self._endings[:-1].tolist(), strict=True)),
        )
        self._clear()
        return statistics

    def state(self) -> dict[str, NDArray[Any]]:
        """The episodes that still run; to be asked between ``pop_statistics`` and the next step."""
        return {"steps": self._steps.copy(), "earned": self._returns_so_far.copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._clear()
        self._steps[:] = state["steps"]
        self._returns_so_far[:] = state["earned"]


@dataclass(frozen=True, eq=False)
class EpisodeStatistics:
    """What was counted in some worlds; two of them can be added.

    samples: control steps. reward_terms: sums by name. lengths, returns: (E,) of the episodes that ended.
    endings: how many episodes ended for which reason.
    """

    samples: int
    reward_terms: Mapping[str, float]
    lengths: NDArray[np.int64]
    returns: NDArray[np.float64]
    endings: Mapping[str, int]

    def __add__(self, other: "EpisodeStatistics") -> "EpisodeStatistics":
        return EpisodeStatistics(
            self.samples + other.samples,
            _add_by_name(self.reward_terms, other.reward_terms),
            np.concatenate([self.lengths, other.lengths]),
            np.concatenate([self.returns, other.returns]),
            _add_by_name(self.endings, other.endings),
        )


def _add_by_name(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    return {name: first.get(name, 0) + second.get(name, 0) for name in {**first, **second}}
