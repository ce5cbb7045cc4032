# SPDX-License-Identifier: GPL-3.0-or-later
"""Reward terms: survival alone is the paper's reward (section 5); imitation and style terms multiply it.

Each term has a name for the learning curve.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .observations import Flags, RelativeKinematics


class RewardTerm(Protocol):
    """A factor of the reward, such as imitation or a style; it may keep a history of each copy."""

    name: str

    def evaluate(self, kinematics: RelativeKinematics) -> Array:
        """(N,) from 0 to 1, for copies after a control step."""

    def reset(self, which: Flags, kinematics: RelativeKinematics) -> None:
        """Clear the history of copies (N,) that have begun a new episode, with these kinematics."""

    def state(self) -> dict[str, NDArray[Any]]:
        """The history, as plain arrays."""

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""


class ImitationReward:
    """The imitation reward of DeepMimic (Peng et al. 2018, equations 5 to 9).

    Pose, joint velocities, end effectors and centre of mass, each as exp(-k * squared differences).
    """

    name = "imitation"
    _POSE, _VELOCITY, _EFFECTORS, _COM = 0.65, 0.1, 0.15, 0.1
    _POSE_K, _VELOCITY_K, _EFFECTORS_K, _COM_K = 2.0, 0.1, 40.0, 10.0
    # The formula sums over joints and end effectors; its factors are for this many of each.
    _JOINTS, _ENDS = 15.0, 4.0

    def evaluate(self, kinematics: RelativeKinematics) -> Array:
        """(N,) from 0 to 1."""
        body, effectors = kinematics.reference.body, max(kinematics.effector_error.shape[1], 1)
        share = self._JOINTS / len(body.links)
        pose = np.sum(kinematics.pose_error[:, 3:] ** 2, axis=1) * share
        velocity = np.sum(kinematics.velocity_error[:, 6:] ** 2, axis=1) * share
        ends = np.sum(kinematics.effector_error**2, axis=(1, 2)) * self._ENDS / effectors
        com = np.sum((kinematics.com - kinematics.reference.com[kinematics.at]) ** 2, axis=1)
        return np.asarray(
            self._POSE * np.exp(-self._POSE_K * pose)
            + self._VELOCITY * np.exp(-self._VELOCITY_K * velocity)
            + self._EFFECTORS * np.exp(-self._EFFECTORS_K * ends)
            + self._COM * np.exp(-self._COM_K * com)
        )

    def reset(self, which: Flags, kinematics: RelativeKinematics) -> None:
        """It has no history."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """It has no history."""
