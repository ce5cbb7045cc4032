# SPDX-License-Identifier: GPL-3.0-or-later
"""How like the library somebody moves, and whether in ways that it shows too seldom (state marginal matching, Lee et
al. 2019): what practises staying up alone sinks into what is easiest.
"""

import numpy as np

from ...geometry.quaternions import Array
from .body_states import Floats
from .stream_matching import group_ways, lacking_ways, match_features, square_distances
from .variety import KnownMotion

_EVERY = 2  # frames of the library that are known from one that is looked at to the next
_FORGOTTEN_STEPS = 300  # after which what was done counts a third: ten seconds


class WayBalance:
    """The library's frames in a few groups of alike ones, ways of moving, and what share of the time goes into each.

    shown: (W,) shares of late, by all who practise together.
    """

    def __init__(self, known: KnownMotion) -> None:
        self._features, self._reach_m = known.features[::_EVERY], known.reach_m
        self._way = group_ways(self._features)
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
        return like, lacking_ways(self.wanted, self.shown)[way]
