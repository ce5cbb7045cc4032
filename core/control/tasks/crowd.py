# SPDX-License-Identifier: GPL-3.0-or-later
"""Crowds (section 5.3.2): many go to the other side of where they all stand, without running into each other.

The paper's see each other by rays; here they are told where the nearest are and how fast they go.
"""

from typing import ClassVar

import numpy as np

from ...body import BodyModel
from ...errors import BadStage
from ...geometry.quaternions import Array
from ...sim.stage import Character, Obstacle, Stage
from .task import CONTROL_FPS, Flags, Moment, Task

REACHED_M = 0.5
TOUCHING_M = 0.5
"""Between the roots of two who run into each other."""
LEAST_APART_M = 0.4
"""Between the roots of two who stand beside each other at the beginning; less, and they stand in each other."""
_NEAREST, _SEEN_M = 4, 6.0
_MOST_GOAL_M = 10.0
_REACHED, _COLLISION = 1.5, 3.0  # a step, beside metres a second nearer: the paper's 0.1 is that, for its metres a step
_JITTER_M = 0.3


class Crowd(Task):
    """goal: (N, 2) metres in the world. middle: (N, 2) of all that began together."""

    goal_size = 3 + 5 * _NEAREST
    together = 8
    _size_m: ClassVar[float] = 5.0

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        super().__init__(count, points, stage)
        # A scene's crowd is one, of any size.
        self.group = len(stage.characters) if stage is not None else min(count, self.together)
        self.kept |= {"goal": np.zeros((count, 2)), "middle": np.zeros((count, 2)), "is_there": np.zeros(count)}

    def places(self) -> Array:
        """(group, 3) where a group begins while it is learned: metres, and where each faces."""
        angle = 2.0 * np.pi * np.arange(self.group) / self.group
        return np.stack([self._size_m * np.cos(angle), self._size_m * np.sin(angle), angle + np.pi], axis=1)

    def place(self, which: Flags, rng: np.random.Generator) -> Array:
        """(n, 3) near the place of each in its group."""
        found = np.tile(self.places(), (self.count // self.group, 1))[which]
        return np.asarray(found + rng.uniform(-_JITTER_M, _JITTER_M, found.shape))

    def other_side(self, place: Array, middle: Array) -> Array:
        """(n, 2) where those go who stand at places (n, 2) around (n, 2)."""
        return 2.0 * middle - place

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """The other side; of points of a scene each its own, by number."""
        if self.points is not None:
            numbers = np.flatnonzero(which) % self.group
            self.kept["goal"][which] = self.points[numbers % len(self.points)]
            return
        place = moment.root[:, :2]
        whole = np.repeat(which.reshape(-1, self.group).all(axis=1), self.group)
        middle = np.repeat(place.reshape(-1, self.group, 2).mean(axis=1), self.group, axis=0)
        self.kept["middle"] = np.where(whole[:, None], middle, self.kept["middle"])
        self.kept["goal"][which] = self.other_side(place[which], self.kept["middle"][which])

    def _others(self, moment: Moment) -> tuple[Array, Array]:
        """(N, group, 2) metres and m/s of all of its group as each has them, from itself."""
        groups = (-1, self.group, 2)
        place, velocity = moment.root[:, :2].reshape(groups), moment.com_velocity[:, :2].reshape(groups)
        apart = place[:, None] - place[:, :, None]
        faster = velocity[:, None] - velocity[:, :, None]
        return apart.reshape(self.count, self.group, 2), faster.reshape(self.count, self.group, 2)

    def _distances(self, apart: Array) -> Array:
        far = np.linalg.norm(apart, axis=2)
        far[np.arange(self.count), np.arange(self.count) % self.group] = np.inf
        return far

    def see(self, moment: Moment) -> Array:
        """(N, 23) direction and distance of the goal; of the nearest others how near, where, and how fast they go."""
        away = moment.to_local(self.kept["goal"] - moment.root[:, :2])
        far = np.linalg.norm(away, axis=1, keepdims=True)
        apart, faster = self._others(moment)
        distance, most = self._distances(apart), min(_NEAREST, self.group - 1)
        seen = np.zeros((self.count, _NEAREST, 5))
        if most:
            nearest = np.argsort(distance, axis=1, kind="stable")[:, :most]
            rows = np.arange(self.count)[:, None]
            near = np.clip(1.0 - distance[rows, nearest] / _SEEN_M, 0.0, 1.0)
            place, speed = (moment.to_local(values[rows, nearest]) for values in (apart, faster))
            seen[:, :most] = np.concatenate([near[..., None], place, speed], axis=2) * (near > 0.0)[..., None]
        goal = [away / np.maximum(far, 1e-6), np.minimum(far, _MOST_GOAL_M)]
        return np.concatenate([*goal, seen.reshape(self.count, -1)], axis=1)

    def _distance_m(self, moment: Moment) -> Array:
        return np.asarray(np.linalg.norm(self.kept["goal"] - moment.root[:, :2], axis=1))

    def touches(self, moment: Moment) -> Flags:
        """(N,) who runs into somebody."""
        return np.asarray(self._distances(self._others(moment)[0]).min(axis=1) < TOUCHING_M)

    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """Equation 3."""
        distance = self._distance_m(moment)
        return {
            "nearer": CONTROL_FPS * (self._distance_m(before) - distance),
            "reached": _REACHED * (distance < REACHED_M),
            "collision": -_COLLISION * self.touches(moment),
        }

    def go_on(self, moment: Moment, rng: np.random.Generator) -> None:
        """Who is there is remembered."""
        super().go_on(moment, rng)
        self.kept["is_there"] = np.maximum(self.kept["is_there"], self._distance_m(moment) < REACHED_M)

    def begin(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """Nobody is there yet."""
        self.kept["is_there"][which] = 0.0
        super().begin(which, moment, rng)

    def figures(self, moment: Moment) -> dict[str, Array]:
        """Share of the time with somebody in the way, and of those who have been at their goals."""
        return {"touching": self.touches(moment).astype(float), "reached": self.kept["is_there"].copy()}


class Circle(Crowd):
    """Eight on a circle, each to the opposite point."""

    name = "circle"
    label = "Cross a Circle"
    help = "go through a crowd to the other side: eight on a circle"


class Carrefour(Crowd):
    """Sixteen from four sides, over a crossing."""

    name = "carrefour"
    label = "Cross a Carrefour"
    help = "go through a crowd to the other side: sixteen from four sides of a crossing"
    together = 16

    def places(self) -> Array:
        """(group, 3) two and two on each of four sides."""
        number = np.arange(self.group)
        side, own = 0.5 * np.pi * (number % 4), number // 4
        out, along = self._size_m + 1.2 * (own // 2), 1.2 * (own % 2) - 0.6
        cos, sin = np.cos(side), np.sin(side)
        return np.stack([out * cos - along * sin, out * sin + along * cos, side + np.pi], axis=1)


class Corridor(Crowd):
    """Four from each end of a corridor."""

    name = "corridor"
    label = "Pass in a Corridor"
    help = "go through a crowd to the other end of a corridor: four from each end"
    _width_m: ClassVar[float] = 5.0

    @classmethod
    def make_stage(cls, body: BodyModel) -> Stage:
        """Two walls along X."""
        long, half = cls._size_m + 3.0, 0.5 * cls._width_m
        walls = (box_obstacle(f"wall {y:+.1f}", (0.0, y, 1.0), (long, 0.1, 1.0)) for y in (-half, half))
        return Stage((Character(body),) * cls.together, obstacles=tuple(walls))

    def places(self) -> Array:
        """(group, 3) two rows of two at each end."""
        number = np.arange(self.group)
        end, own = np.where(number % 2, 1.0, -1.0), number // 2
        x, y = end * (self._size_m - 1.2 * (own // 2)), 1.2 * (own % 2) - 0.6
        return np.stack([x, y, np.where(end > 0.0, np.pi, 0.0)], axis=1)

    def other_side(self, place: Array, middle: Array) -> Array:
        """(n, 2) the other end of the corridor, as far from its walls."""
        return np.stack([2.0 * middle[:, 0] - place[:, 0], place[:, 1]], axis=1)


def box_obstacle(name: str, middle: tuple[float, float, float], half: tuple[float, float, float]) -> Obstacle:
    """A box that does not move: metres."""
    signs = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, -1).T
    return Obstacle(name, (np.array(middle) + signs * half,))


def require_apart(root: Array, names: list[str]) -> None:
    """Refuse characters (C, 3) metres that stand in each other; names: of all."""
    apart = np.linalg.norm(root[:, None, :2] - root[None, :, :2], axis=-1) + np.where(np.eye(len(root)), np.inf, 0.0)
    if len(root) > 1 and apart.min() < LEAST_APART_M:
        first, second = np.unravel_index(int(apart.argmin()), apart.shape)
        raise BadStage(
            f"'{names[first]}' and '{names[second]}' begin {apart.min():.2f} m apart: they stand in each other",
            f"Move one of them: {LEAST_APART_M:g} m apart or more",
        )
