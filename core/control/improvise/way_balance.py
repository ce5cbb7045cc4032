# SPDX-License-Identifier: GPL-3.0-or-later
"""How like the library somebody moves, and whether in ways that it shows too seldom (state marginal matching, Lee et al.
2019): what practises staying up alone sinks into what is easiest.
"""

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .body_states import Floats
from .stream_matching import match_features
from .variety import KnownMotion, square_distances

_WAYS, _ROUNDS = 32, 20
_EVERY = 2  # frames of the library that are known from one that is looked at to the next
_FORGOTTEN_STEPS = 300  # after which what was done counts a third: ten seconds


class WayBalance:
    """The library's frames in a few groups of alike ones, ways of moving, and what share of the time goes into each.

    shown: (W,) shares of late, by all who practise together.
    """

    def __init__(self, known: KnownMotion) -> None:
        self._features, self._reach_m = known.features[::_EVERY], known.reach_m
        self._way = group_alike(self._features, _WAYS)
        self.wanted: Array = np.bincount(self._way) / len(self._way)
        self.shown = self.wanted.copy()

    def judge(self, rows: Floats) -> tuple[Array, Array]:
        """(N,) how like the library states (N, 15 L) are, from 0 to 1, and (N,) from -1 to 1 how much too seldom their
        way of moving is shown: the logarithm of how many times.
        """
        square = square_distances(match_features(rows), self._features)
        nearest = square.argmin(axis=1)
        like = np.exp(-0.5 * square[np.arange(len(rows)), nearest].astype(float) / self._reach_m**2)
        way = self._way[nearest]
        now = np.bincount(way, minlength=len(self.wanted)) / len(rows)
        self.shown += (now - self.shown) / _FORGOTTEN_STEPS
        lacking = np.log(self.wanted / np.maximum(self.shown, 1e-6))
        return like, np.clip(lacking, -1.0, 1.0)[way]


def group_alike(features: Floats, count: int) -> NDArray[np.int64]:
    """(M,) numbers from 0 on, without gaps, of groups of features (M, F) that are near each other: k-means."""
    middles = features[np.linspace(0, len(features) - 1, min(count, len(features))).astype(np.int64)]
    group = np.zeros(len(features), dtype=np.int64)
    for _ in range(_ROUNDS):
        group = square_distances(features, middles).argmin(axis=1)
        middles = np.stack([features[group == one].mean(axis=0) for one in np.unique(group)])
    return np.unique(group, return_inverse=True)[1].astype(np.int64)
