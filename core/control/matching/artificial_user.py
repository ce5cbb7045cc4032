# SPDX-License-Identifier: GPL-3.0-or-later
"""The artificial user (DReCon, section 6.7): random wishes that come and go, to see what a library can do.

It wishes for what there is: a library that never goes sideways at a run is not asked to, for motion matching would jump
from clip to clip after it, as nobody moves.
"""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from .database import MatchingDatabase
from .features import FPS
from .guides import Flags, RootState, StickGuide

CHANCE = 0.001
"""Of a new wish, in each frame."""
_MOST_TURN_RAD_S = 1.5
_MOST_ACROSS_M_S2 = 3.0  # a faster turn at that speed would lean by more than a sixth of a right angle
_STANDS_M_S = 0.15


@dataclass(frozen=True, eq=False)
class SpeedRange:
    """What a style can do. slow, fast: (B,) m/s by the way it goes, B directions from where it faces, to the left."""

    slow: Array
    fast: Array

    def choose(self, rng: np.random.Generator, ahead: float = 0.0) -> tuple[float, float]:
        """A direction, in radians from where it faces, and a speed: all that there are, alike.

        ahead: share of choices that go where it faces, at any speed from standing, if it can.
        """
        if ahead and rng.random() < ahead and self.fast[0] > 0.0:
            return 0.0, float(rng.uniform(0.0, self.fast[0]))
        ways = np.flatnonzero(self.fast > 0.0)
        index = int(rng.choice(ways)) if len(ways) else 0
        away = 2.0 * np.pi * (index + rng.uniform(-0.5, 0.5)) / len(self.slow)
        return away, float(rng.uniform(self.slow[index], self.fast[index]))


_DIRECTIONS = 8
_LEAST_FRAMES = 45  # of a direction; with fewer it counts as never gone
_SLOW_SHARE, _FAST_SHARE = 5.0, 97.0  # percent


def find_speed_range(database: MatchingDatabase, style: tuple[str, ...], most_m_s: float) -> SpeedRange:
    """How slow and fast the root goes in each direction in frames of a style; without one it may also stand."""
    frames = database.candidates(style).frames
    velocity = database.track.vel[frames]
    speed = np.linalg.norm(velocity, axis=-1)
    turn = np.arctan2(velocity[:, 1].copy(), velocity[:, 0].copy()) / (2.0 * np.pi) * _DIRECTIONS
    index = np.round(turn).astype(np.int64) % _DIRECTIONS
    slow, fast = np.zeros((2, _DIRECTIONS))
    for direction in range(_DIRECTIONS):
        own = speed[(index == direction) & (speed > _STANDS_M_S)]
        if len(own) >= _LEAST_FRAMES:
            slow[direction], fast[direction] = np.percentile(own, (_SLOW_SHARE, _FAST_SHARE))
    if not style:
        slow[:] = 0.0
    return SpeedRange(np.minimum(slow, most_m_s), np.minimum(fast, most_m_s))


class ArtificialUser(StickGuide):
    """N users. At a chance in each frame one wishes anew: direction, heading, turn rate, speed and style, uniformly.

    styles: those to choose from. most_m_s: the fastest that is wished for. ranges: by style, what it can do; without,
    any speed is wished in any direction. ahead: share of wishes to go where one faces; else one in eight is for the
    direction in which a library is fast. events: how often somebody wished anew.
    """

    def __init__(
        self,
        count: int,
        rng: np.random.Generator,
        *,
        styles: tuple[tuple[str, ...], ...] = ((),),
        most_m_s: float = 3.0,
        chance: float = CHANCE,
        ranges: dict[tuple[str, ...], SpeedRange] | None = None,
        ahead: float = 0.0,
    ) -> None:
        super().__init__(np.zeros((count, 2)), np.zeros(count), np.zeros(count), [styles[0]] * count)
        self.events = 0
        self._rng, self._styles, self._most_m_s, self._chance = rng, styles, most_m_s, chance
        self._ranges, self._share_ahead = ranges or {}, ahead
        self._seen = 0
        self._next = np.zeros(count, dtype=np.int64)
        self.changed = np.ones(count, dtype=bool)
        for index in range(count):
            self._wish_anew(index)

    def _wish_anew(self, index: int) -> None:
        rng = self._rng
        direction, heading = rng.uniform(-np.pi, np.pi, size=2)
        style = self._styles[int(rng.integers(len(self._styles)))]
        speed, most_turn = rng.uniform(0.0, self._most_m_s), _MOST_TURN_RAD_S
        if style in self._ranges:
            away, speed = self._ranges[style].choose(rng, self._share_ahead)
            direction = heading + away
            most_turn = min(most_turn, _MOST_ACROSS_M_S2 / max(speed, 1e-3))
        self.velocity[index] = speed * np.cos(direction), speed * np.sin(direction)
        self.heading[index] = heading
        self.turn_rate[index] = rng.uniform(-most_turn, most_turn)
        self.style[index] = style
        # As many frames as pass until a chance in each frame comes true.
        self._next[index] = self._seen + int(rng.geometric(self._chance))
        self.events += 1

    def has_changed(self, frame: int) -> Flags:
        """Whose chance came true by this frame; all wishes turn on meanwhile."""
        self._turn_to(frame)
        self.changed = self._next <= frame
        for index in np.flatnonzero(self.changed):
            self._wish_anew(int(index))
        return self.changed

    def _turn_to(self, frame: int) -> None:
        turned = self.turn_rate * (frame - self._seen) / FPS
        self._seen = frame
        cos, sin = np.cos(turned), np.sin(turned)
        x, y = self.velocity.T
        self.velocity = np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)
        self.heading = self.heading + turned

    def predict(self, frame: int, state: RootState) -> tuple[Array, Array]:
        """As of a gamepad that is held so."""
        self._turn_to(frame)
        return super().predict(frame, state)

    def next_change(self, frame: int) -> int:
        """When the next one wishes anew."""
        return int(max(self._next.min(), frame + 1))
