# SPDX-License-Identifier: GPL-3.0-or-later
"""Rewards for more or less kinetic energy or volume (section 3.3, equations 4 and 5).

The paper's ranges are 20 to 100 J and 0.12 m³, for everything on one body. An amble on that body has 6 J and a run has
43 J, so that one would have no reward at all; and other bodies are of other sizes. Here ranges are relative to the
reference's means, and reach far above them: a policy in training trembles, and has twice the source's energy before any
style.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ..observations import Flags, RelativeKinematics
from ..reference_trajectory import ReferenceTrajectory
from .quantities import KineticEnergy, LimbVolume, links_of, reference_energy_j, reference_volume_m3

NAME = "style"
"""The name of any style's reward term."""

# Of the reference's mean energy: where the reward begins and ends to change. Beyond, there is no gradient and survival
# is all that is left to learn; with four times as much, no style was learned.
_MORE, _LESS = (1.0, 3.0), (0.25, 4.0)
_VOLUME_SCALE = 1.1  # of the reference's mean volume


def apply_strength(reward: Array, strength: float) -> Array:
    """A style's reward (N,) from 0 to 1 blended with one: at strength 0 it is one, at 1 the paper's own."""
    return np.asarray(1.0 - strength * (1.0 - reward))


class _StatelessTerm:
    """A reward term without a history."""

    name = NAME

    def reset(self, which: Flags, kinematics: RelativeKinematics) -> None:
        """It has no history."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """It has no history."""


class EnergyReward(_StatelessTerm):
    """Equation 4: linear from 0 to 1 between two energies, upwards for more and downwards for less."""

    def __init__(self, reference: ReferenceTrajectory, more: bool, strength: float = 1.0) -> None:
        self._energy, self.more, self.strength = KineticEnergy(reference.body), more, strength
        usual = reference_energy_j(reference)
        self.least_j, self.most_j = (by * usual for by in (_MORE if more else _LESS))

    def evaluate(self, kinematics: RelativeKinematics) -> Array:
        """(N,) from 0 to 1."""
        energy = self._energy.energy_j(kinematics.qvel, *links_of(kinematics))
        share = np.clip((energy - self.least_j) / max(self.most_j - self.least_j, 1e-9), 0.0, 1.0)
        return apply_strength(share if self.more else 1.0 - share, self.strength)


class VolumeReward(_StatelessTerm):
    """Equation 5: exp(-V / scale) for less, and one minus that for more."""

    def __init__(self, reference: ReferenceTrajectory, more: bool, strength: float = 1.0) -> None:
        self._volume, self.more, self.strength = LimbVolume(reference.body), more, strength
        self.scale_m3 = max(_VOLUME_SCALE * reference_volume_m3(reference), 1e-9)

    def evaluate(self, kinematics: RelativeKinematics) -> Array:
        """(N,) from 0 to 1."""
        less = np.exp(-self._volume.volume_m3(*links_of(kinematics)) / self.scale_m3)
        return apply_strength(1.0 - less if self.more else less, self.strength)
