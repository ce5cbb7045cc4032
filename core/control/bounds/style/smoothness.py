# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a style from being reached by shaking: equation 7, on energy and on accelerations of parts and joints."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....body.kinetics import Kinetics
from ....body.poses import link_transforms
from ....geometry.quaternions import Array
from ..course import CONTROL_FPS, Course
from ..observations import Flags, Seen
from .quantities import links_seen

# The paper does not print its scales. Here they are the source's own mean of each, times this. Who has just learned to
# walk has fifteen times the accelerations of a capture, and with the noise of learning seventy: with less room, not
# to shake would be all that there is to earn.
_ROOM = 200.0


class Smoothness:
    """exp(-sum of a_i / (N b_i)) over N things: the energy, each part's acceleration, and each joint's angular one."""

    def __init__(self, course: Course) -> None:
        self._kinetics, self._starts = Kinetics(course.body), course.turn_starts[1:]
        pos, quat = link_transforms(course.body, course.qpos)
        linear, angular = self._kinetics.velocities(course.rates, pos, quat)
        energy = self._kinetics.kinetic_energy_j(linear, angular, quat)
        # Of a cycle the last frame is the first one again, turned and moved on.
        parts, joints = self._changes(np.diff(linear, axis=0), np.diff(course.rates, axis=0))
        usual = np.concatenate([energy[:, None].mean(axis=0), parts.mean(axis=0), joints.mean(axis=0)])
        self._scale = _ROOM * np.maximum(usual, 1e-3 * usual.max())
        self._linear, self._rates = np.zeros((0, *linear.shape[1:])), np.zeros((0, course.body.nv))

    def worth(self, seen: Seen) -> Array:
        """(N,) from 0 to 1, of copies one control step after they were seen last."""
        linear, rates, energy = self._velocities(seen)
        parts, joints = self._changes(linear - self._linear, rates - self._rates)
        self._linear, self._rates = linear, rates
        return np.asarray(np.exp(-np.mean(np.concatenate([energy[:, None], parts, joints], 1) / self._scale, axis=1)))

    def begin(self, which: Flags, seen: Seen) -> None:
        """Take what is seen of copies (N,) that begin anew as what was before."""
        linear, rates, _ = self._velocities(seen)
        if len(self._linear) != len(which):
            self._linear, self._rates = linear, rates
        self._linear, self._rates = (
            np.where(which[:, None, None], linear, self._linear),
            np.where(which[:, None], rates, self._rates),
        )

    def _velocities(self, seen: Seen) -> tuple[Array, Array, Array]:
        """World velocities (N, L, 3) of the parts, rates (N, nv) of the joints, and energies (N,)."""
        pos, quat = links_seen(seen)
        linear, angular = self._kinetics.velocities(seen.qvel, pos, quat)
        energy = self._kinetics.kinetic_energy_j(linear, angular, quat)
        if seen.rows is not None:  # the root's own velocity is seen from the course, and all else from the world
            linear = linear + (seen.rows.com_velocity[:, -1, 0] - self._kinetics.com_velocity(linear))[:, None]
        return linear, seen.qvel, energy

    def _changes(self, linear: Array, rates: Array) -> tuple[Array, Array]:
        """Accelerations (N, L) in m/s² and (N, L - 1) in rad/s² of differences over a control step."""
        parts = np.linalg.norm(linear, axis=-1) * CONTROL_FPS
        turns = np.sqrt(np.add.reduceat(rates**2, self._starts, axis=-1)) * CONTROL_FPS
        return parts, turns

    def state(self) -> dict[str, NDArray[Any]]:
        """The velocities that were seen last."""
        return {"linear": self._linear, "rates": self._rates}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Put back what ``state`` gave."""
        self._linear, self._rates = np.array(state["linear"]), np.array(state["rates"])
