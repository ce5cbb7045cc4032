# SPDX-License-Identifier: GPL-3.0-or-later
"""From a wish to where characters should be 20, 40 and 60 frames from now: what the trajectory features are asked for.

A guide tells it for N characters at once. All wished changes of velocity and facing go through critically damped
springs, so that what is asked for is what a body could do.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from .features import AHEAD, FPS
from .ground_path import GroundPath, make_path
from .springs import damping_of, fade, fade_integral
from .wish import Wish

VELOCITY_HALF_LIFE_S = 0.27
FACING_HALF_LIFE_S = 0.15
# Of who is steered by a stick: the faster its springs, the further apart are the clips that it goes over between.
STICK_VELOCITY_HALF_LIFE_S, STICK_FACING_HALF_LIFE_S = 0.4, 0.24
_BACK_HALF_LIFE_S = 0.25  # in which who is beside the path is to be on it again
_AHEAD_S = np.array(AHEAD) / FPS
_VELOCITY, _FACING = damping_of(VELOCITY_HALF_LIFE_S), damping_of(FACING_HALF_LIFE_S)
_PREDICTED_S = fade_integral(_VELOCITY, _AHEAD_S)
_FACED = 1.0 - fade(_FACING, _AHEAD_S)
_STICK_PREDICTED_S = fade_integral(damping_of(STICK_VELOCITY_HALF_LIFE_S), _AHEAD_S)
_STICK_FACED = 1.0 - fade(damping_of(STICK_FACING_HALF_LIFE_S), _AHEAD_S)
_STILL_BESIDE = fade(damping_of(_BACK_HALF_LIFE_S), _AHEAD_S)
_ARRIVE_S = 0.8  # before an aim, speed is no more than the distance in this time
_ARRIVED_M = 0.15
# Who is to come no further than the second from 20 to 60 frames ahead is to stand; the first is slow.
_SLOW_M_S, _STANDS_M = 0.6, 0.3
_HELD_M_S, _HELD_RAD = 0.05, 0.3
_LOOKED_FRAMES = 10  # from one look at a way to the next
_LEAST_WAY_M = 0.05  # between places that are less apart there is no direction to face


Flags = NDArray[np.bool_]


@dataclass
class RootState:
    """Where N characters are. pos: (N, 2) metres, yaw: (N,) radians, vel: (N, 2) m/s in the world."""

    pos: Array
    yaw: Array
    vel: Array


class Guide(Protocol):
    """Says where N characters are to go."""

    def predict(self, frame: int, state: RootState) -> tuple[Array, Array]:
        """Wished places (N, 3, 2) and facing directions (N, 3, 2) in the world, at the three times ahead."""

    def styles(self, frame: int) -> list[tuple[str, ...]]:
        """(N) style tags that each is limited to, () for any."""

    def has_changed(self, frame: int) -> Flags:
        """(N,) whose wish is not what it was a frame ago."""

    def may_hold(self, state: RootState) -> Flags:
        """(N,) who is wished to stand as it does, so that a pose may be held when its clip would move on."""

    def next_change(self, frame: int) -> int:
        """The first frame after this one in which somebody's wish may change at once."""


@dataclass
class StickGuide:
    """Velocities and headings, as a gamepad gives them. All may be changed between frames.

    velocity: (N, 2) m/s in the world; heading: (N,) radians from +X; turn_rate: (N,) rad/s at which both turn.
    """

    velocity: Array
    heading: Array
    turn_rate: Array
    style: list[tuple[str, ...]] = field(default_factory=list)
    changed: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def predict(self, frame: int, state: RootState) -> tuple[Array, Array]:
        """The springs' way from the present velocity and heading to the wished ones."""
        turned = self.turn_rate[:, None] * _AHEAD_S
        half = 0.5 * turned  # the mean direction of a velocity that turns
        cos, sin = np.cos(half), np.sin(half)
        x, y = self.velocity[:, :1], self.velocity[:, 1:]
        wished = np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1) * _AHEAD_S[:, None]
        late = (state.vel - self.velocity)[:, None] * _STICK_PREDICTED_S[:, None]
        angle = turn_towards(state.yaw[:, None], self.heading[:, None] + turned, _STICK_FACED)
        return state.pos[:, None] + wished + late, np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def styles(self, frame: int) -> list[tuple[str, ...]]:
        """As they are set."""
        return self.style or [()] * len(self.heading)

    def has_changed(self, frame: int) -> Flags:
        """As it is said."""
        return self.changed if len(self.changed) else np.zeros(len(self.heading), dtype=bool)

    def may_hold(self, state: RootState) -> Flags:
        """Who has no velocity or turn to wish for, and faces as wished."""
        stands = np.hypot(*self.velocity.T) < _HELD_M_S
        away = np.abs(turn_towards(0.0 * state.yaw, self.heading - state.yaw, np.array(1.0)))
        return np.asarray(stands & (np.abs(self.turn_rate) < _HELD_RAD) & (away < _HELD_RAD))

    def next_change(self, frame: int) -> int:
        """Nobody knows."""
        return frame + 1_000_000


class WishGuide:
    """One character that is told where to go by a wish.

    standing: for each of the wish's styles the tags that it is limited to where it is wished to stand. stopping: the
    tags that are let in besides where it comes to a stand.
    """

    def __init__(
        self, wish: Wish, standing: tuple[tuple[str, ...], ...] = (), stopping: tuple[tuple[str, ...], ...] = ()
    ) -> None:
        self.wish, self._standing, self._stopping = wish, standing or wish.styles, stopping
        self.path: GroundPath | None = None if wish.path is None else make_path(wish.path, wish.closed)
        self._changes: list[int] = wish.find_changes().tolist()
        self._along_m, self._seen = 0.0, 0
        self._stands = self._is_slow = self._faces = False
        self._stood: Array | None = None

    def start(self) -> tuple[Array, float]:
        """Where it begins: a place (2,) and the way it faces."""
        if self.path is None:
            return np.array(self.wish.start, dtype=float), self.wish.start_heading
        place, ahead = self.path.points[0], self.path.ahead[0]
        heading = float(np.arctan2(ahead[1], ahead[0]))
        return np.array(place), float(self._facing(0, place[None], np.array([heading]))[0])

    def go_on_from(self, frame: int, place: Array, walked: Array) -> None:
        """Be as in a frame at a place (2,), by a character whose way so far was to be (T, 2), frame by frame.

        How far along the path it is, is how far that way was when it was nearest to the place.
        """
        self._seen = min(frame, len(self.wish) - 1)
        if self.path is None:
            return
        along, nearest = 0.0, np.inf
        for before, here in pairwise(walked[:frame:_LOOKED_FRAMES]):
            along = self.path.progress(here, along, 1.5 * float(np.linalg.norm(here - before)) + 0.1)
            away = float(np.linalg.norm(here - place))
            if away < nearest:
                self._along_m, nearest = along, away

    def predict(self, frame: int, state: RootState) -> tuple[Array, Array]:
        """Along the path at the wished speed, or to the aim."""
        frame = min(frame, len(self.wish) - 1)
        places, along = (self._along_path if self.path is not None else self._to_goal)(frame, state)
        self._is_slow = float(np.hypot(*state.vel[0])) < _SLOW_M_S
        self._stands = float(np.hypot(*(places[-1] - places[0]))) < _STANDS_M
        places = places + self._held_back(state.pos[0]) * (1.0 - _STILL_BESIDE)[:, None]
        wished = self._facing(frame, places, along)
        if self.path is None or self.wish.heading is not None or self.wish.look_at is not None:
            wished = turn_towards(state.yaw[0], wished, _FACED)
        self._faces = abs(float(turn_towards(np.array(0.0), wished[-1] - state.yaw[0], np.array(1.0)))) < _HELD_RAD
        return places[None], np.stack([np.cos(wished), np.sin(wished)], axis=-1)[None]

    def may_hold(self, state: RootState) -> Flags:
        """Whether it stands where it was to come to, facing as wished."""
        return np.array([self._stands and self._faces])

    def _held_back(self, pos: Array) -> Array:
        """(2,) metres back to where it came to stand: clips of standing drift a little, and for a minute that shows."""
        if not (self._stands and self._is_slow):
            self._stood = None
            return np.zeros(2)
        if self._stood is None or float(np.hypot(*(self._stood - pos))) > _STANDS_M:
            self._stood = np.array(pos)
        return self._stood - pos

    def _along_path(self, frame: int, state: RootState) -> tuple[Array, Array]:
        path, speed = self.path, float(self.wish.speed_m_s[frame])
        assert path is not None
        passed_s = (frame - self._seen) / FPS
        self._seen = frame
        going = float(np.hypot(*state.vel[0]))
        self._along_m = path.progress(state.pos[0], self._along_m, (1.5 * max(going, speed) + 0.1) * passed_s)
        here = path.index_at(np.array(self._along_m))
        forward = float(state.vel[0] @ path.ahead[here])
        way = self._along_m + speed * _AHEAD_S + (forward - speed) * _PREDICTED_S
        index = path.index_at(np.maximum(way, self._along_m))
        beside = (state.pos[0] - path.points[here]) * _STILL_BESIDE[:, None]
        ahead = path.ahead[index]
        return path.points[index] + beside, np.arctan2(ahead[:, 1], ahead[:, 0])

    def _to_goal(self, frame: int, state: RootState) -> tuple[Array, Array]:
        goal, pos, vel = self.wish.goal, state.pos[0], state.vel[0]
        assert goal is not None
        away = goal[frame] - pos
        distance = float(np.hypot(*away))
        speed = min(float(self.wish.speed_m_s[frame]), max(distance - _ARRIVED_M, 0.0) / _ARRIVE_S)
        velocity = away * (speed / max(distance, 1e-6))
        places = pos + velocity * _AHEAD_S[:, None] + (vel - velocity) * _PREDICTED_S[:, None]
        along = np.arctan2(away[1], away[0]) if distance > 2 * _ARRIVED_M else state.yaw[0]
        return places, np.full(3, along)

    def _facing(self, frame: int, places: Array, along: Array) -> Array:
        """(3,) radians to face at places (3, 2): what is wished, or along the way where nothing is."""
        wish, angles = self.wish, along
        later = np.minimum(frame + np.array(AHEAD[: len(along)]), len(wish) - 1)
        if wish.look_at is not None:
            away = wish.look_at[later] - places
            seen = np.linalg.norm(away, axis=-1) > _LEAST_WAY_M  # NaN is not
            angles = np.where(seen, np.arctan2(away[:, 1], away[:, 0]), angles)
        if wish.heading is not None:
            angles = np.where(np.isnan(wish.heading[later]), angles, wish.heading[later])
        return angles

    def styles(self, frame: int) -> list[tuple[str, ...]]:
        """The wished one."""
        index = int(self.wish.style[min(frame, len(self.wish) - 1)])
        wished = self.wish.styles[index]
        if not wished:
            # Anything goes until it is slow enough to stand: idle has no steps to stop with.
            return [self._standing[index] if self._stands and self._is_slow else wished]
        limited = self._standing[index] if self._stands else wished
        more = self._stopping[index] if self._stopping and (self._stands or self._stops_soon(frame)) else ()
        return [(*limited, *(name for name in more if name not in limited))]

    def _stops_soon(self, frame: int) -> bool:
        """Whether the path ends within a second, or the keyed speed does."""
        now, later = (min(one, len(self.wish) - 1) for one in (frame, frame + AHEAD[-1]))
        speed = self.wish.speed_m_s
        if speed[later] < _HELD_M_S <= speed[now]:
            return True
        path = self.path
        return path is not None and not path.closed and path.length_m - self._along_m < speed[now] * AHEAD[-1] / FPS

    def has_changed(self, frame: int) -> Flags:
        """Whether the wish jumps here."""
        place = bisect_left(self._changes, frame)
        return np.array([place < len(self._changes) and self._changes[place] == frame])

    def next_change(self, frame: int) -> int:
        """Where it jumps next."""
        place = bisect_right(self._changes, frame)
        return self._changes[place] if place < len(self._changes) else len(self.wish) + 1_000_000


def turn_towards(angle: Array, wished: Array, share: Array) -> Array:
    """Angles that have gone a share of the shortest way to the wished ones."""
    away = np.mod(wished - angle + np.pi, 2.0 * np.pi) - np.pi
    found: Array = angle + share * away
    return found
