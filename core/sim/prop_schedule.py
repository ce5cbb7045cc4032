# SPDX-License-Identifier: GPL-3.0-or-later
"""When props appear and where they wait until then, the same for every engine."""

import numpy as np

from ..geometry.quaternions import Array, conjugate, rotate
from .engine import SensorRows
from .stage import Stage

# Far above everything, each 100 m from the next: nothing touches a prop that waits there, and no ray reaches it.
WAITING_HEIGHT_M = 10_000.0


class PropSchedule:
    """The props of a stage by time; P props.

    some_appear: whether any of them is not there from the beginning.
    placed: (P, 13) where each one appears: position, wxyz, velocity in the world, angular velocity in the prop's own
    frame, as a free joint has them. waiting: (P, 13) where it is until then, at rest.
    """

    def __init__(self, stage: Stage) -> None:
        props = stage.props
        self.appears_s: Array = np.array([prop.appears_s for prop in props], dtype=float)
        self.some_appear = bool(np.any(self.appears_s > 0.0))
        self.placed: Array = np.zeros((len(props), 13))
        for index, prop in enumerate(props):
            spin = rotate(conjugate(np.asarray(prop.quat_wxyz)), np.asarray(prop.angular_velocity, dtype=float))
            self.placed[index] = np.concatenate([prop.pos, prop.quat_wxyz, prop.velocity, spin])
        self.waiting: Array = np.zeros((len(props), 13))
        self.waiting[:, 2] = WAITING_HEIGHT_M + 100.0 * np.arange(len(props))
        self.waiting[:, 3] = 1.0

    def present(self, time_s: Array, dt_s: float) -> np.ndarray:
        """(..., P) whether each prop takes part at times (...)."""
        # The sum of many time steps is not exact; a millionth of one is no delay.
        return np.asarray(time_s)[..., None] >= self.appears_s - 1e-6 * dt_s

    def cuts(self, time_s: Array, steps: int, dt_s: float) -> set[int]:
        """After how many of the physics steps (1 to steps) from times (N,) some copy has a prop appear."""
        if not self.some_appear:
            return set()
        there = self.present(np.asarray(time_s)[:, None] + dt_s * np.arange(steps + 1), dt_s)
        appears = there[:, 1:] & ~there[:, :-1]
        return {int(step) + 1 for step in np.flatnonzero(appears.any(axis=(0, 2)))}

    def hide(self, rows: SensorRows, dt_s: float) -> None:
        """Say in the rows where absent props will appear, not where the engine keeps them."""
        absent = ~self.present(rows.time_s, dt_s)
        if absent.any():
            rows.prop_pos[absent] = np.broadcast_to(self.placed[:, :3], rows.prop_pos.shape)[absent]
            rows.prop_quat_wxyz[absent] = np.broadcast_to(self.placed[:, 3:7], rows.prop_quat_wxyz.shape)[absent]
