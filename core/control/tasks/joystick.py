# SPDX-License-Identifier: GPL-3.0-or-later
"""Joystick control (section 5.2): the centre of mass is to have a wished velocity, which changes now and then."""

import numpy as np

from ...geometry.quaternions import Array
from ...sim.stage import Stage
from .task import CONTROL_FPS, Flags, Moment, Task

_SLOWEST, _FASTEST = 0.5, 2.0  # m/s
_EVERY_S = 4.0
_SHARPNESS = 5.0
_LEAST = 1e-3


class Joystick(Task):
    """wish: (N, 2) m/s in the world."""

    name = "joystick"
    label = "Keep a Velocity"
    help = "keep the velocity that is wished, which changes every few seconds"
    goal_size = 4
    steered = True
    goes_to_points = False

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        super().__init__(count, points, stage)
        self.kept |= {"wish": np.zeros((count, 2))}

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """Any direction, at a speed of the range."""
        number = int(which.sum())
        angle, speed = rng.uniform(-np.pi, np.pi, number), rng.uniform(_SLOWEST, _FASTEST, number)
        self.kept["wish"][which] = speed[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)

    def see(self, moment: Moment) -> Array:
        """(N, 4) what is lacking, and the wish itself."""
        wish = self.kept["wish"]
        return np.concatenate([moment.to_local(wish - moment.com_velocity[:, :2]), moment.to_local(wish)], axis=1)

    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """The paper's product of what is right of direction and of speed."""
        velocity, wish = moment.com_velocity[:, :2], self.kept["wish"]
        speed, wished = (np.linalg.norm(one, axis=1) for one in (velocity, wish))
        apart = velocity / np.maximum(speed, _LEAST)[:, None] - wish / np.maximum(wished, _LEAST)[:, None]
        right = np.exp(-_SHARPNESS * (apart**2).sum(1)) * np.exp(-_SHARPNESS * (speed - wished) ** 2)
        return {"velocity": right}

    def go_on(self, moment: Moment, rng: np.random.Generator) -> None:
        """A new wish for some."""
        super().go_on(moment, rng)
        changes = rng.random(self.count) < 1.0 / (_EVERY_S * CONTROL_FPS)
        if changes.any():
            self.prepare(changes, moment, rng)

    def steer(self, velocity: Array, moment: Moment) -> None:
        """That velocity."""
        self.kept["wish"] = np.array(velocity)

    def figures(self, moment: Moment) -> dict[str, Array]:
        """How far off the velocity is."""
        velocity, wish = moment.com_velocity[:, :2], self.kept["wish"]
        off = np.linalg.norm(velocity - wish, axis=1)
        cosine = (velocity * wish).sum(1) / np.maximum(
            np.linalg.norm(velocity, axis=1) * np.linalg.norm(wish, axis=1), _LEAST
        )
        return {"velocity_error_m_s": off, "direction_error_deg": np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))}
