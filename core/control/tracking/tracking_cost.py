# SPDX-License-Identifier: GPL-3.0-or-later
"""The tracking cost's weights and terms by name: equation 20 of control graphs (section 5.3)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...geometry.quaternions import Array


@dataclass(frozen=True)
class CostWeights:
    """The paper's weights: pose, root, end effectors, balance, centroid, its velocity, angular momentum, action."""

    pose: float = 4.0
    root: float = 4.0
    tips: float = 10.0
    balance: float = 1.0
    com: float = 3.0
    com_velocity: float = 0.1
    angular_momentum: float = 0.03
    action: float = 0.05


class CostTerms(NamedTuple):
    """The weighted terms of equation 20, each (N,) for N samples; ``total`` is their sum.

    pose: joint angles. root: orientation of the root. tips: heights of the end effectors. balance: where the feet are
    from the centre of mass. com, com_velocity: the centre of mass and its velocity. angular_momentum: about it.
    action: length of the offsets.
    """

    pose: Array
    root: Array
    tips: Array
    balance: Array
    com: Array
    com_velocity: Array
    angular_momentum: Array
    action: Array

    @property
    def total(self) -> Array:
        """(N,) the sum of the terms; inf for samples that blew up."""
        total = self.pose + self.root + self.tips + self.balance
        total = total + self.com + self.com_velocity + self.angular_momentum + self.action
        return np.where(np.isfinite(total), total, np.inf)
