# SPDX-License-Identifier: GPL-3.0-or-later
"""Episodes counted while they run: how long they lasted, what they earned, and why they ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .environment import Transition


class Tally:
    """What the episodes of N worlds came to since the last time that it was asked."""

    def __init__(self, worlds: int, reasons: Sequence[str]) -> None:
        self._reasons = tuple(reasons)
        self._steps = np.zeros(worlds, dtype=np.int64)
        self._earned = np.zeros(worlds)
        self._clear()

    def _clear(self) -> None:
        self._terms: dict[str, float] = {}
        self._lengths: list[NDArray[np.int64]] = []
        self._returns: list[NDArray[np.float64]] = []
        self._why = np.zeros(len(self._reasons) + 1, dtype=np.int64)
        self._seen = 0

    def add(self, step: Transition) -> None:
        """Count one control step of all worlds."""
        self._steps += 1
        self._earned += step.total
        self._seen += len(self._steps)
        for name, term in step.rewards.items():
            self._terms[name] = self._terms.get(name, 0.0) + float(np.sum(term, dtype=np.float64))
        ended = np.nonzero(step.terminated | step.truncated)[0]
        if len(ended):
            self._lengths.append(self._steps[ended])
            self._returns.append(self._earned[ended])
            # An end without a reason (-1) is counted in the last place, under no name.
            self._why += np.bincount(step.why[ended] % len(self._why), minlength=len(self._why))
            self._steps[ended] = 0
            self._earned[ended] = 0.0

    def take(self) -> "Sums":
        """What was counted, which is then forgotten; episodes that still run go on being counted."""
        sums = Sums(
            self._seen,
            dict(self._terms),
            np.concatenate(self._lengths) if self._lengths else np.zeros(0, dtype=np.int64),
            np.concatenate(self._returns) if self._returns else np.zeros(0),
            dict(zip(self._reasons, self._why[:-1].tolist(), strict=True)),
        )
        self._clear()
        return sums

    def restart(self) -> None:
        """Every world begins a new episode."""
        self._steps[:] = 0
        self._earned[:] = 0.0
        self._clear()

    def state(self) -> dict[str, NDArray[Any]]:
        """The episodes that still run; to be asked between ``take`` and the next step."""
        return {"steps": self._steps.copy(), "earned": self._earned.copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self.restart()
        self._steps[:] = state["steps"]
        self._earned[:] = state["earned"]


@dataclass(frozen=True, eq=False)
class Sums:
    """What was counted in some worlds; two of them can be added.

    samples: control steps. terms: sums of the rewards by name. lengths, returns: (E,) of the episodes that ended.
    endings: how many episodes ended for which reason.
    """

    samples: int
    terms: Mapping[str, float]
    lengths: NDArray[np.int64]
    returns: NDArray[np.float64]
    endings: Mapping[str, int]

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.samples + other.samples,
            _summed(self.terms, other.terms),
            np.concatenate([self.lengths, other.lengths]),
            np.concatenate([self.returns, other.returns]),
            _summed(self.endings, other.endings),
        )


def _summed(some: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    return {name: some.get(name, 0) + others.get(name, 0) for name in {**some, **others}}
