# SPDX-License-Identifier: GPL-3.0-or-later
"""What has been seen so far, as mean and spread, and numbers brought to mean 0 and spread 1 by it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .environment import Floats

_SMALLEST = 1e-3
"""What varies less than this is taken for constant: to blow it up would be to listen to rounding."""

_FARTHEST = 8.0
"""Normalised numbers stay within this many spreads: one freak of physics must not shake the networks."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and squared deviations of rows of K numbers, merged batch by batch without keeping any row.

    count: how many rows. mean: (K,). deviations: (K,) the sum over rows of (row - mean) squared.
    """

    count: float
    mean: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def none(cls, size: int) -> Self:
        """Nothing seen yet."""
        return cls(0.0, np.zeros(size), np.zeros(size))

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """The moments of (B, K) rows."""
        wide = np.asarray(rows, dtype=np.float64)
        mean = wide.mean(axis=0)
        apart = wide - mean
        return cls(float(len(wide)), mean, np.einsum("ij,ij->j", apart, apart))

    def __add__(self, other: "Moments") -> "Moments":
        """Both together, exactly as if all rows had come at once (Chan, Golub and LeVeque 1979)."""
        count = self.count + other.count
        if count == 0.0:
            return self
        gap = other.mean - self.mean
        mean = self.mean + gap * (other.count / count)
        return Moments(count, mean, self.deviations + other.deviations + gap**2 * (self.count * other.count / count))

    def forgetting(self, limit: float) -> "Moments":
        """The same, weighing no more than ``limit`` rows, so that what was seen long ago fades."""
        if self.count <= limit:
            return self
        return Moments(limit, self.mean, self.deviations * (limit / self.count))

    @property
    def spread(self) -> NDArray[np.float64]:
        """(K,) standard deviations; 1 where nothing was seen or nothing varies."""
        if self.count == 0.0:
            return np.ones_like(self.mean)
        spread = np.sqrt(self.deviations / self.count)
        return np.where(spread > _SMALLEST, spread, 1.0)


class Normaliser:
    """Brings rows to mean 0 and spread 1 by moments that stay as they are; a new one is made when they change."""

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self._mean = moments.mean.astype(np.float32)
        self._factor = (1.0 / moments.spread).astype(np.float32)

    def __call__(self, rows: Floats, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """(..., K) of float32, within a few spreads of 0; into ``out`` if it is given."""
        near: NDArray[Any] = np.subtract(rows, self._mean, out=out, dtype=np.float32, casting="same_kind")
        np.multiply(near, self._factor, out=near)
        return np.clip(near, -_FARTHEST, _FARTHEST, out=near)
