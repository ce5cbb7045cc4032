# SPDX-License-Identifier: GPL-3.0-or-later
"""TD(λ) returns, and with them generalised advantage estimation (GAE).

Both are one recursion: the advantage of Schulman et al. 2016 (equation 16) with some λ is the TD(λ) return with that λ
less the value of the state in which the action was taken.
"""

import numpy as np
from numpy.typing import NDArray

from .environment import Flags

Rows = NDArray[np.float32]


def next_values(values: Rows, terminated: Flags, truncated: Flags, final_values: Rows) -> Rows:
    """(T, N) values of the states that each step led to: zero where it terminated, bootstrapped where it was truncated.

    values: (T + 1, N) of the observations before each step, and after the last one.
    final_values: of the final observations of truncated episodes that did not terminate, in the order of
        ``np.nonzero(truncated & ~terminated)``, for there the next row of ``values`` is of another episode.
    """
    after = values[1:].copy()
    after[truncated & ~terminated] = final_values
    after[terminated] = 0.0
    return after


def lambda_returns(rewards: Rows, after: Rows, ended: Flags, discount: float, lambda_: float) -> Rows:
    """(T, N) TD(λ) returns.

    rewards, after: (T, N), the latter of ``next_values``. ended: (T, N) terminated or truncated here.
    lambda_: λ. At 1 values count only beyond the rollout and truncated episodes; at 0 the return is one-step.
    """
    returns = np.empty_like(rewards)
    following = after[-1]
    for step in range(len(rewards) - 1, -1, -1):
        # Beyond an end nothing is mixed in: the next row belongs to another episode.
        mixed = after[step] + np.where(ended[step], np.float32(0.0), np.float32(lambda_)) * (following - after[step])
        returns[step] = rewards[step] + np.float32(discount) * mixed
        following = returns[step]
    return returns
