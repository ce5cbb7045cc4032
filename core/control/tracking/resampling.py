# SPDX-License-Identifier: GPL-3.0-or-later
"""Systematic resampling, as in particle filters: which samples go on into the next fragment, and how often."""

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array


def resample_systematically(total: Array, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(count,) indices into samples of costs ``total`` (E,): cheaper ones have more offspring.

    Weights fall off exponentially with the cost, in units of its standard deviation.
    """
    finite = total[np.isfinite(total)]
    if not len(finite):
        return np.arange(count) % len(total)
    spread = max(float(np.std(finite)), 1e-6)
    weight = np.exp(-(total - finite.min()) / spread)
    edges = np.cumsum(weight / weight.sum())
    return np.minimum(np.searchsorted(edges, (np.arange(count) + rng.random()) / count), len(total) - 1)
