# SPDX-License-Identifier: GPL-3.0-or-later
"""What actions were worth: TD(λ) returns, and generalised advantages as their difference to what was expected.

Both are one recursion: the advantage of Schulman et al. 2016 (equation 16) with some λ is the TD(λ) return with that λ
less the value of where the action was taken.
"""

import numpy as np
from numpy.typing import NDArray

from .environment import Flags

Rows = NDArray[np.float32]


def values_after(values: Rows, terminated: Flags, truncated: Flags, cut_values: Rows) -> Rows:
    """(T, N) what was still to be earned after each step, as the value network has it.

    values: (T + 1, N) of what was observed before each step, and after the last one.
    cut_values: those of the last observations of truncated episodes that did not terminate, in the order of
        ``np.nonzero(truncated & ~terminated)``: the next row of ``values`` is of another episode.
    """
    after = values[1:].copy()
    after[truncated & ~terminated] = cut_values
    after[terminated] = 0.0
    return after


def lambda_returns(rewards: Rows, after: Rows, ended: Flags, discount: float, trust: float) -> Rows:
    """(T, N) TD(λ) returns: what was earned from each step on, and beyond what was seen, what was expected.

    rewards, after: (T, N), the latter of ``values_after``. ended: (T, N) the episode ended here, for good or cut.
    trust: λ. At 1 the expected counts only where an episode is cut; at 0 only the next step's does.
    """
    returns = np.empty_like(rewards)
    following = after[-1]
    for step in range(len(rewards) - 1, -1, -1):
        # Beyond an end there is nothing to mix in: what follows belongs to another episode.
        mixed = after[step] + np.where(ended[step], np.float32(0.0), np.float32(trust)) * (following - after[step])
        returns[step] = rewards[step] + np.float32(discount) * mixed
        following = returns[step]
    return returns
