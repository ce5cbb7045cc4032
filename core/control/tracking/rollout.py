# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts at the control rate, and a meter of how much was simulated."""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ...sim.engine import SensorRows, World
from .reference import CONTROL_FPS


@dataclass
class RolloutMeter:
    """Counts what rollouts simulate: control steps of ``fps`` a second, summed over all copies that are still finite.

    A search is paid for in these, so that methods that begin with one can be compared with those that do not.
    """

    fps: float
    steps: float = 0.0

    def add(self, states: Array, control_steps: int, substeps: int, dt_s: float) -> None:
        """Count a rollout from states (N, state_size)."""
        alive = int(np.isfinite(states).all(axis=-1).sum())
        self.steps += alive * control_steps * substeps * dt_s * self.fps


def roll_out(
    world: World,
    states: Array,
    targets: Array,
    muscle: Array | None = None,
    meter: RolloutMeter | None = None,
    *,
    end_only: bool = False,
) -> tuple[Array, SensorRows]:
    """States (N, K, state_size) and sensor rows after K control steps of ``1 / CONTROL_FPS`` seconds.

    states: (N, state_size), targets: (N, K, nu), muscle: (N, K) share of strength, None for 1.
    end_only: give the last of the K alone, as ``World.rollout`` says.
    """
    substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
    if meter is not None:
        meter.add(states, targets.shape[1], substeps, world.dt_s)
    return world.rollout(states, targets, substeps=substeps, muscle=muscle, end_only=end_only)
