# SPDX-License-Identifier: GPL-3.0-or-later
"""Between cues: the character waits, or goes to where the next place is, by motion matching."""

from collections.abc import Sequence

import numpy as np

from ..matching.database import MatchingDatabase
from ..matching.directing import IDLE
from ..matching.features import FPS
from ..matching.guides import WishGuide
from ..matching.matching import MotionMatching, to_complex
from ..matching.wish import Wish
from .cues import Cue
from .root_paths import RootPath

GOING = ("walk", "run", "jog")
"""Styles to go somewhere in, in the order of preference."""

_SLOWEST_M_S = 0.6
_FAR_M = 0.4  # what is nearer needs no going to: a deed's own steps come so far
_TURN_S = 1.0  # before a moment, from when on its heading is faced
_BEST_BEGINNINGS = 8  # of which the seed chooses one
_STANDS_M_S = 0.15


class Interludes:
    """What is played while no cue is near. fastest_m_s: of the library."""

    def __init__(self, database: MatchingDatabase, cues: Sequence[Cue], fastest_m_s: float) -> None:
        self._database, self._cues, self._fastest = database, cues, fastest_m_s
        known = set(database.library.tag_names())
        self._ways = tuple(name for name in GOING if name in known)
        self._idle = (IDLE,) if IDLE in known else ()

    def find_beginning(self, rng: np.random.Generator) -> int:
        """A frame to begin in: one of standing, if there is that; which of the stillest, the seed says."""
        database = self._database
        candidates = database.candidates(self._idle).frames if self._idle else database.candidates(()).frames
        calm = candidates[database.stays_calm[candidates]]
        chosen = calm if len(calm) else candidates
        given = chosen[~database.library.mirrored[database.clip_of[chosen]]]
        chosen = given if len(given) else chosen
        speed = np.linalg.norm(database.track.vel[chosen], axis=-1) + np.abs(database.track.turn[chosen])
        best = np.argsort(speed, kind="stable")[: 10 * _BEST_BEGINNINGS : 10]
        return int(chosen[best[int(rng.integers(len(best)))]])

    def go(self, done: RootPath, number: int, frames: int) -> RootPath:
        """So many frames towards the place of a cue, or of the first one after it that has a place."""
        here = complex(done.pos[-1])
        after = next((cue for cue in self._cues[number:] if cue.ground_from(here) is not None), None)
        there = None if after is None else after.ground_from(here)
        if after is None or there is None or abs(there - here) < _FAR_M:
            return self._match(done, here, 0.0, frames, number)
        away = there - here
        left_s = max((after.at - len(done) + 1) / FPS, 0.1)
        speed = float(np.clip(abs(away) / left_s, _SLOWEST_M_S, self._fastest))
        return self._match(done, there, speed, frames, number)

    def wait(self, done: RootPath, frames: int) -> RootPath:
        """So many frames on the spot."""
        return self._match(done, complex(done.pos[-1]), 0.0, frames, len(self._cues))

    def _match(self, done: RootPath, goal: complex, speed: float, frames: int, number: int) -> RootPath:
        style, most = self._choose_style(speed)
        count = frames + 1
        standing = (style if not self._idle or self._can_stand(style) else (*style, *self._idle),)
        heading = None
        if number < len(self._cues) and (asked := self._cues[number].heading) is not None:
            near = np.arange(len(done), len(done) + count) > self._cues[number].at - _TURN_S * FPS
            heading = np.where(near, asked, np.nan)
        wish = Wish(
            np.full(count, min(speed, most)),
            goal=np.tile([goal.real, goal.imag], (count, 1)),
            heading=heading,
            styles=(style if speed > 0.0 else standing[0],),
        )
        pos = np.array([[done.pos[-1].real, done.pos[-1].imag]])
        guide, begin = WishGuide(wish, standing), (done.frame[-1:], pos, done.yaw[-1:])
        matching = MotionMatching(self._database, guide, *begin, steering=0.1, puts_off=False)
        played = matching.advance(frames)
        return RootPath(played.frame[0], to_complex(played.pos[0]), played.yaw[0])

    def _choose_style(self, speed: float) -> tuple[tuple[str, ...], float]:
        """The style to go so fast in, or to stand in, and how fast that is at most."""
        if speed == 0.0 and self._idle:
            return self._idle, 0.0
        for name in self._ways:
            fastest = self._database.candidates((name,)).fastest_m_s
            if speed <= fastest or name == self._ways[-1]:
                return (name,), fastest
        return (), self._fastest

    def _can_stand(self, style: tuple[str, ...]) -> bool:
        return self._database.candidates(style).slowest_m_s < _STANDS_M_S
