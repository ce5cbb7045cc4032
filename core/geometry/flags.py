# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags frame by frame."""

import numpy as np
from numpy.typing import NDArray


def find_runs(now: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where flags (N,) are on without a break: first, and one after the last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], now.astype(int), [0]])))
    return [(int(start), int(stop)) for start, stop in zip(edges[::2], edges[1::2], strict=True)]
