# SPDX-License-Identifier: GPL-3.0-or-later
"""Point-goal navigation (section 5.2): go to a point on the ground, and then to the next one."""

import numpy as np

from ...geometry.quaternions import Array
from ...sim.stage import Stage
from .task import CONTROL_FPS, Flags, Moment, Task

REACHED_M = 0.5
_NEAREST_M, _FURTHEST_M = 2.0, 8.0
_MOST_SEEN_M = 10.0
_AHEAD_S = 3.0  # to the goal of who is steered


class PointGoal(Task):
    """goal: (N, 2) metres in the world. A goal that is reached makes room for another one."""

    name = "point_goal"
    label = "Go to Points"
    help = "go to points on the ground, one after the other"
    goal_size = 3
    steered = True

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        super().__init__(count, points, stage)
        self.kept |= {"goal": np.zeros((count, 2)), "reached": np.zeros(count)}

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """A goal somewhere around, a few metres away; of points of a scene the first."""
        if self.points is not None:
            self.kept["goal"][which] = self.points[0]
            return
        number = int(which.sum())
        angle, far = rng.uniform(-np.pi, np.pi, number), rng.uniform(_NEAREST_M, _FURTHEST_M, number)
        self.kept["goal"][which] = moment.root[which, :2] + far[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)

    def distance_m(self, moment: Moment) -> Array:
        """(N,) metres that the root's place on the ground is away from the goal."""
        found: Array = np.linalg.norm(self.kept["goal"] - moment.root[:, :2], axis=1)
        return found

    def see(self, moment: Moment) -> Array:
        """(N, 3) direction and distance."""
        away = moment.to_local(self.kept["goal"] - moment.root[:, :2])
        far = np.linalg.norm(away, axis=1, keepdims=True)
        return np.concatenate([away / np.maximum(far, 1e-6), np.minimum(far, _MOST_SEEN_M)], axis=1)

    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """How much nearer it is, in metres a second."""
        return {"nearer": CONTROL_FPS * (self.distance_m(before) - self.distance_m(moment))}

    def go_on(self, moment: Moment, rng: np.random.Generator) -> None:
        """Who is there goes to another goal."""
        super().go_on(moment, rng)
        there = self.distance_m(moment) < REACHED_M
        if there.any():
            self.kept["reached"] = self.kept["reached"] + there
            self.prepare(there, moment, rng)
            if self.points is not None:  # the last one is stayed at
                number = np.minimum(self.kept["reached"][there].astype(int), len(self.points) - 1)
                self.kept["goal"][there] = self.points[number]

    def begin(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """None is reached yet."""
        self.kept["reached"][which] = 0.0
        super().begin(which, moment, rng)

    def steer(self, velocity: Array, moment: Moment) -> None:
        """A goal that is always as far ahead as it comes in some seconds."""
        self.kept["goal"] = moment.root[:, :2] + _AHEAD_S * velocity

    def figures(self, moment: Moment) -> dict[str, Array]:
        """Goals a minute, and speed towards them."""
        there = self.distance_m(moment) < REACHED_M
        return {"goals_per_minute": 60.0 * CONTROL_FPS * there}
