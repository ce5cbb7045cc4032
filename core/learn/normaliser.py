# SPDX-License-Identifier: GPL-3.0-or-later
"""Running mean and standard deviation of rows of numbers, and rows normalised by them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .environment import Floats

_SMALLEST_STD = 1e-3
"""What varies less than this is taken for constant: dividing by it would amplify rounding."""

_LARGEST_NORMALISED = 8.0
"""Normalised numbers are clipped to this many standard deviations, so that one outlier of physics does no harm."""


@dataclass(frozen=True, eq=False)
class RunningStatistics:
    """Mean and squared deviations of rows of K numbers, merged batch by batch without keeping any row.

    count: how many rows. mean: (K,). deviations: (K,) the sum over rows of (row - mean) squared.
    """

    count: float
    mean: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def empty(cls, size: int) -> Self:
        """The statistics of no rows of K = ``size`` numbers."""
        return cls(0.0, np.zeros(size), np.zeros(size))

    @classmethod
    def from_rows(cls, rows: Floats) -> Self:
        """The statistics of (B, K) rows."""
        wide = np.asarray(rows, dtype=np.float64)
        mean = wide.mean(axis=0)
        centred = wide - mean
        return cls(float(len(wide)), mean, np.einsum("ij,ij->j", centred, centred))

    def __add__(self, other: "RunningStatistics") -> "RunningStatistics":
        """Both together, exactly as if all rows had come at once (Chan, Golub and LeVeque 1979)."""
        count = self.count + other.count
        if count == 0.0:
            return self
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.count / count)
        deviations = self.deviations + other.deviations + gap**2 * (self.count * other.count / count)
        return RunningStatistics(count, mean, deviations)

    def with_limited_count(self, limit: float) -> "RunningStatistics":
        """The same with the weight of ``limit`` rows at most, so that old rows fade as new ones are merged."""
        if self.count <= limit:
            return self
        return RunningStatistics(limit, self.mean, self.deviations * (limit / self.count))

    @property
    def std(self) -> NDArray[np.float64]:
        """(K,) standard deviations; 1 where there are no rows or nothing varies."""
        if self.count == 0.0:
            return np.ones_like(self.mean)
        std = np.sqrt(self.deviations / self.count)
        return np.where(std > _SMALLEST_STD, std, 1.0)


class Normaliser:
    """Brings rows to mean 0 and standard deviation 1 by fixed statistics; it is replaced when those change."""

    def __init__(self, statistics: RunningStatistics) -> None:
        self.statistics = statistics
        self._mean = statistics.mean.astype(np.float32)
        self._factor = (1.0 / statistics.std).astype(np.float32)

    def __call__(self, rows: Floats, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """(..., K) of float32, clipped to a few standard deviations; into ``out`` if it is given."""
        normalised: NDArray[Any] = np.subtract(rows, self._mean, out=out, dtype=np.float32, casting="same_kind")
        np.multiply(normalised, self._factor, out=normalised)
        return np.clip(normalised, -_LARGEST_NORMALISED, _LARGEST_NORMALISED, out=normalised)
