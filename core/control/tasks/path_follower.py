# SPDX-License-Identifier: GPL-3.0-or-later
"""Path following (section 5.2): keep up with a point that goes along a path like an 8 on its side."""

import numpy as np

from ...errors import BadStage
from ...geometry.quaternions import Array
from ...sim.stage import Stage
from .task import CONTROL_FPS, Flags, Moment, Task

_SIZE_M = 10.0  # A
_PERIOD_S = 47.0  # so that the point goes 1.3 m/s on average; the paper's b depends on its unit of time
_SPEED_M_S = 1.2  # along points of a scene
_AHEAD = (0, 10, 20)  # control steps
_LOST_M = 3.0
_VELOCITY_SHARPNESS = 2.5


class PathFollower(Task):
    """phase: (N,) radians at the beginning; place: (N, 2) and turn: (N,) put the path into the world."""

    name = "path"
    label = "Follow a Path"
    help = "keep up with a point that goes along a path like an 8 on its side"
    goal_size = 4 * len(_AHEAD)

    def __init__(self, count: int, points: Array | None = None, stage: Stage | None = None) -> None:
        super().__init__(count, points, stage)
        self.kept |= {"phase": np.zeros(count), "place": np.zeros((count, 2)), "turn": np.zeros(count)}

    @classmethod
    def require_points(cls, points: Array) -> None:
        """A path needs two."""
        if len(points) < 2:
            raise BadStage("One point is no path", "Give two points or more, or a curve")

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """Anywhere on the path, which begins where the character is and goes where it faces."""
        phase = rng.uniform(0.0, 2.0 * np.pi, int(which.sum()))
        way = _path_velocity(phase)
        turn = moment.heading[which] - np.arctan2(way[:, 1], way[:, 0])
        self.kept["phase"][which], self.kept["turn"][which] = phase, turn
        self.kept["place"][which] = moment.com[which, :2] - _turned(turn, _path_place(phase))

    def _point(self, ahead: int) -> tuple[Array, Array]:
        """(N, 2) metres and (N, 2) m/s in the world, so many steps ahead."""
        if self.points is not None:
            return _along(self.points, _SPEED_M_S * (self.kept["steps"] + ahead) / CONTROL_FPS)
        rate = 2.0 * np.pi / _PERIOD_S
        phase = self.kept["phase"] + rate * (self.kept["steps"] + ahead) / CONTROL_FPS
        turn = self.kept["turn"]
        return self.kept["place"] + _turned(turn, _path_place(phase)), rate * _turned(turn, _path_velocity(phase))

    def see(self, moment: Moment) -> Array:
        """(N, 12) where the point is and how fast it goes, now and in two moments to come."""
        parts = []
        for ahead in _AHEAD:
            place, velocity = self._point(ahead)
            parts += [np.clip(moment.to_local(place - moment.com[:, :2]), -10.0, 10.0), moment.to_local(velocity)]
        return np.concatenate(parts, axis=1)

    def _errors(self, moment: Moment) -> tuple[Array, Array]:
        place, velocity = self._point(1)  # the step that led here is counted afterwards
        return np.linalg.norm(moment.com[:, :2] - place, axis=1), np.linalg.norm(
            moment.com_velocity[:, :2] - velocity, axis=1
        )

    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """The paper's product of place and velocity."""
        off, slip = self._errors(moment)
        return {"path": np.exp(-(off**2)) * np.exp(-_VELOCITY_SHARPNESS * slip**2)}

    def go_on(self, moment: Moment, rng: np.random.Generator) -> None:
        """Who is too far off begins on a path from where it is: nothing is earned there, so nothing is learned."""
        lost = (self._errors(moment)[0] > _LOST_M) & (self.points is None)
        super().go_on(moment, rng)
        if lost.any():
            self.begin(lost, moment, rng)

    def figures(self, moment: Moment) -> dict[str, Array]:
        """How far off it is."""
        off, _ = self._errors(moment)
        return {"path_error_m": off, "lost_per_minute": 60.0 * CONTROL_FPS * (off > _LOST_M)}


def _path_place(phase: Array) -> Array:
    """(N, 2) metres at angles (N,): A (sin, sin cos)."""
    return _SIZE_M * np.stack([np.sin(phase), np.sin(phase) * np.cos(phase)], axis=1)


def _path_velocity(phase: Array) -> Array:
    """(N, 2) metres a radian."""
    return _SIZE_M * np.stack([np.cos(phase), np.cos(2.0 * phase)], axis=1)


def _turned(angle: Array, vectors: Array) -> Array:
    """(N, 2) vectors turned by angles (N,)."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([cos * vectors[:, 0] - sin * vectors[:, 1], sin * vectors[:, 0] + cos * vectors[:, 1]], axis=1)


def _along(points: Array, far: Array) -> tuple[Array, Array]:
    """(N, 2) metres and (N, 2) m/s on the lines through points (K, 2), so many metres from their beginning (N,)."""
    steps = np.diff(points, axis=0)
    lengths = np.maximum(np.linalg.norm(steps, axis=1), 1e-9)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    place = np.stack([np.interp(far, ends, column) for column in points.T], axis=1)
    index = np.clip(np.searchsorted(ends, far, side="right") - 1, 0, len(steps) - 1)
    going = (far < ends[-1])[:, None]
    return place, np.where(going, _SPEED_M_S * steps[index] / lengths[index][:, None], 0.0)
