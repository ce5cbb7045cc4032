# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest frame among many, exactly: by balls around runs of frames, and by one product over all of them.

Consecutive frames are alike, so that a run of them lies in a small ball. Who plays a frame already knows a distance
that the nearest one must be within; balls beyond it are left out, and only what is left is compared frame by frame.
Squared distances differ from |m|² − 2 m·q by what is the same for all frames, so that both steps are matrix products.
"""

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array

RUN = 6
"""Frames a ball: of 4 to 16, the fastest on 12 minutes of locomotion."""
_SLACK = 1e-5  # of squared lengths, for what float32 rounds
_MOST_PRODUCTS = 2_000_000  # numbers of a batch that are compared at a time, so that they stay in the cache

Floats = NDArray[np.float32]


class FrameSearch:
    """The nearest of M points (M, D), which come in runs: consecutive ones are often near each other.

    rows: (M, D + 1) the points and what is left of their squared length.
    """

    def __init__(self, points: Array) -> None:
        points = np.asarray(points, dtype=float)
        self._count, self._dims = points.shape
        filled = np.concatenate([points, np.repeat(points[-1:], -len(points) % RUN, axis=0)])
        runs = filled.reshape(-1, RUN, self._dims)
        centres = runs.mean(axis=1)
        radii = np.sqrt(((runs - centres[:, None]) ** 2).sum(-1)).max(axis=1)
        rows = np.concatenate([filled, -0.5 * (filled**2).sum(-1, keepdims=True)], axis=1)
        self.rows: Floats = np.ascontiguousarray(rows, dtype=np.float32)
        self._runs = self.rows.reshape(-1, RUN, self._dims + 1)
        self._firsts: Floats = np.ascontiguousarray(self._runs[:, 0])
        # |q - c| <= d + r is q·c - (|c|² - r²) / 2 + d r >= (|q|² - d²) / 2: one product over all balls.
        rest = -0.5 * ((centres**2).sum(-1) - radii**2)
        self._balls: Floats = np.ascontiguousarray(np.column_stack([centres, rest, radii]).T, dtype=np.float32)
        self._scale = float(np.abs(rows[:, -1]).max()) + 1.0
        self._query = np.ones(self._dims + 2, dtype=np.float32)
        self._near = np.empty(self._balls.shape[1], dtype=np.float32)

    def __len__(self) -> int:
        return self._count

    def find_nearest(self, query: Floats, bound: float = np.inf) -> tuple[int, float]:
        """(place, squared distance) of the nearest point to a query (D,); place is -1 if none is within ``bound``.

        A query of fewer numbers has zeros behind them. bound: squared distance of a point that is known already. Of
        several equally near ones it is the first.
        """
        asked, dims = self._query, self._dims
        asked[: len(query)], asked[len(query) : dims], asked[dims] = query, 0.0, 1.0
        own = float(query @ query)
        if not np.isfinite(bound):
            # One point of each run says how near the nearest is at least.
            bound = (own - 2.0 * float((self._firsts @ asked[:-1]).max())) * (1.0 + 1e-5) + 1e-3
        asked[dims + 1] = np.sqrt(bound)
        np.dot(asked, self._balls, out=self._near)
        inside = np.flatnonzero(self._near >= 0.5 * (own - bound) - _SLACK * (self._scale + own))
        if not len(inside):
            return -1, bound
        scores = self._runs[inside].reshape(-1, dims + 1) @ asked[:-1]
        best = int(scores.argmax())
        distance = own - 2.0 * float(scores[best])
        if distance >= bound:
            return -1, bound
        place = int(inside[best // RUN]) * RUN + best % RUN
        return min(place, self._count - 1), max(distance, 0.0)  # what fills the last run up repeats the last point

    def find_all_nearest(self, queries: Floats) -> tuple[NDArray[np.int64], Array]:
        """(N,) places and (N,) squared distances of the nearest points to queries (N, D): one product for all."""
        count = len(queries)
        asked = np.zeros((self._dims + 1, count), dtype=np.float32)
        asked[: queries.shape[1]], asked[-1] = queries.T, 1.0
        places, best = np.zeros(count, dtype=np.int64), np.full(count, -np.inf, dtype=np.float32)
        step = max(_MOST_PRODUCTS // max(count, 1), RUN)
        for first in range(0, self._count, step):
            scores = self.rows[first : first + step] @ asked
            found = scores.argmax(axis=0)
            value = scores[found, np.arange(count)]
            better = value > best
            places[better], best[better] = first + found[better], value[better]
        own = np.einsum("nd,nd->n", queries, queries)
        return np.minimum(places, self._count - 1), np.maximum(own - 2.0 * best, 0.0)
