# SPDX-License-Identifier: GPL-3.0-or-later
"""The smoothness regulariser of style rewards (equation 7), on kinetic energy and accelerations of links and joints."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....body.kinetics import Kinetics
from ....body.poses import link_transforms
from ....geometry.quaternions import Array
from ..observations import Flags, RelativeKinematics
from ..reference_trajectory import CONTROL_FPS, ReferenceTrajectory
from .quantities import links_of

# The paper does not print its scales. Here they are the reference's own mean of each, times this. A policy that has
# just learned to walk has fifteen times the accelerations of a capture, and with exploration noise seventy: with a
# smaller scale, smoothness would outweigh the style.
_SCALE = 200.0


class SmoothnessRegulariser:
    """exp(-sum of a_i / (N b_i)) over N terms: the energy, each link's acceleration, and each joint's angular one."""

    def __init__(self, reference: ReferenceTrajectory) -> None:
        self._kinetics, self._starts = Kinetics(reference.body), reference.rotation_starts[1:]
        pos, quat = link_transforms(reference.body, reference.qpos)
        linear, angular = self._kinetics.velocities(reference.qvel, pos, quat)
        energy = self._kinetics.kinetic_energy_j(linear, angular, quat)
        # Of a cycle the last frame is the first one again, turned and shifted.
        parts, joints = self._changes(np.diff(linear, axis=0), np.diff(reference.qvel, axis=0))
        usual = np.concatenate([energy[:, None].mean(axis=0), parts.mean(axis=0), joints.mean(axis=0)])
        self._scale = _SCALE * np.maximum(usual, 1e-3 * usual.max())
        self._linear, self._rates = np.zeros((0, *linear.shape[1:])), np.zeros((0, reference.body.nv))

    def evaluate(self, kinematics: RelativeKinematics) -> Array:
        """(N,) from 0 to 1, for copies one control step after the last evaluation."""
        linear, rates, energy = self._velocities(kinematics)
        parts, joints = self._changes(linear - self._linear, rates - self._rates)
        self._linear, self._rates = linear, rates
        return np.asarray(np.exp(-np.mean(np.concatenate([energy[:, None], parts, joints], 1) / self._scale, axis=1)))

    def reset(self, which: Flags, kinematics: RelativeKinematics) -> None:
        """Take the kinematics of copies (N,) that begin a new episode as those before their first step."""
        linear, rates, _ = self._velocities(kinematics)
        if len(self._linear) != len(which):
            self._linear, self._rates = linear, rates
        self._linear, self._rates = (
            np.where(which[:, None, None], linear, self._linear),
            np.where(which[:, None], rates, self._rates),
        )

    def _velocities(self, kinematics: RelativeKinematics) -> tuple[Array, Array, Array]:
        """World velocities (N, L, 3) of the links, velocities (N, nv) of the joints, and energies (N,)."""
        pos, quat = links_of(kinematics)
        linear, angular = self._kinetics.velocities(kinematics.qvel, pos, quat)
        energy = self._kinetics.kinetic_energy_j(linear, angular, quat)
        if (
            kinematics.rows is not None
        ):  # the root's own velocity is in the reference's frame, and all else in the world
            linear = linear + (kinematics.rows.com_velocity[:, -1, 0] - self._kinetics.com_velocity(linear))[:, None]
        return linear, kinematics.qvel, energy

    def _changes(self, linear: Array, rates: Array) -> tuple[Array, Array]:
        """Accelerations (N, L) in m/s² and (N, L - 1) in rad/s² of differences over a control step."""
        parts = np.linalg.norm(linear, axis=-1) * CONTROL_FPS
        turns = np.sqrt(np.add.reduceat(rates**2, self._starts, axis=-1)) * CONTROL_FPS
        return parts, turns

    def state(self) -> dict[str, NDArray[Any]]:
        """The last velocities."""
        return {"linear": self._linear, "rates": self._rates}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._linear, self._rates = np.array(state["linear"]), np.array(state["rates"])
