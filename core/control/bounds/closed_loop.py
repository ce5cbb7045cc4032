# SPDX-License-Identifier: GPL-3.0-or-later
"""N copies that follow a reference under a policy, one control step after the other, outside of training."""

from collections.abc import Callable

import numpy as np

from ...geometry.quaternions import Array
from ...learn.environment import Floats
from ...sim.engine import SensorRows, World
from .environment import compute_servo_targets
from .observations import Flags, ReferencePlacement, measure_kinematics
from .reference_trajectory import CONTROL_FPS, FILM_STEPS, ReferenceTrajectory

Act = Callable[[Floats], Floats]
"""Observations (N, O) -> corrections (N, nu): a ``core.learn.policy.Policy``."""


class ClosedLoop:
    """The copies of a world on a reference.

    states: (N, state_size) of the world. placement: where each is on the reference. kinematics: after the last step.
    rows: sensor rows, targets: (N, FILM_STEPS, nu) servo targets of the last step.
    """

    def __init__(
        self, reference: ReferenceTrajectory, world: World, states: Array, placement: ReferencePlacement
    ) -> None:
        self.reference, self.world, self.states, self.placement = reference, world, states, placement
        self._substeps = round(1.0 / (CONTROL_FPS * FILM_STEPS * world.dt_s))
        self.rows = world.sense(states)
        self.measure()

    def step(self, actions: Floats, *, forces: Array | None = None, end_only: bool = False) -> tuple[Array, SensorRows]:
        """Advance by a control step with corrections (N, nu); gives states (N, FILM_STEPS, state_size) and sensor rows.

        forces, end_only: see ``World.rollout``.
        """
        self.targets = compute_servo_targets(self.reference, self.placement.at, actions)
        states, self.rows = self.world.rollout(
            self.states, self.targets, substeps=self._substeps, forces=forces, end_only=end_only
        )
        self.states, self.placement = np.array(states[:, -1]), self.placement.advance(self.reference)
        self.measure()
        return states, self.rows

    def measure(self) -> None:
        """Measure the kinematics again, after states or placement were changed by hand."""
        self.kinematics = measure_kinematics(self.reference, self.world, self.states, self.rows, self.placement)

    def drop(self, copies: Flags) -> None:
        """Stop simulating copies (N,): a state that is not a number costs no time."""
        self.states[copies] = np.nan

    def exceeded(self, widths: Array) -> Array:
        """(N, R) deviations over widths (T + 1, R): above 1 a bound is violated; infinite where physics diverged."""
        return np.nan_to_num(self.kinematics.deviations / widths[self.placement.at], nan=np.inf)
