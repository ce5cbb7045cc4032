# SPDX-License-Identifier: GPL-3.0-or-later
"""Lost motions: when a body was where its source never is, whatever became of it afterwards.

Heights alone do not tell: upside down in a roll, all links are about as high as they should be. So the trunk's lean and
the whole pose count too, each against all that the source does a little earlier or later, because a body that is late
is not lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..geometry.flags import find_runs
from ..geometry.quaternions import Array, conjugate, rotate
from .falling import STRAY, character_height, find_fall_time, height_error

Flags = NDArray[np.bool_]

# From here on a body is astray: how much its trunk leans otherwise in degrees, and how far its links are off as a mean,
# seen from the root, as a share of the character's height. Takes that look right stay under 60 and 0.18.
_LEAN_DEG, _POSE = 75.0, 0.25
# How far it may be from its place where nothing has pushed it away: as a share of its height, and in metres at least.
_PLACE, _LEAST_M = 0.5, 0.3
_LATE_S = 0.25  # how much earlier or later the source may be like it
_LEAST_S = 0.2  # what is over sooner is a stumble
# Whoever leans otherwise by so much when the clip ends, and so many seconds before by so much less, is falling.
_TIPS_DEG, _TIPS_S, _GAINS_RAD = 40.0, 0.2, np.radians(8.0)
_LAST_S = 1.0  # since when at most


@dataclass(frozen=True, eq=False)
class LostMotionDetector:
    """The motion that a body is to follow: links' places (T, L, 3) and turns (T, L, 4) in the world at ``fps``.

    trunk: the links whose lean counts.
    """

    wanted_pos: Array
    wanted_quat_wxyz: Array
    trunk: tuple[int, ...]
    fps: float

    @cached_property
    def tallest(self) -> float:
        """Metres: the character's height."""
        return character_height(self.wanted_pos)

    def lost_spans(
        self,
        seen_pos: Array,
        seen_quat_wxyz: Array,
        place_counts: bool = False,
        away: Sequence[tuple[int, int]] = (),
    ) -> list[tuple[int, int]]:
        """Ranges of moments in which a body, seen at (T, L, 3) and (T, L, 4), was lost; down for good is lost too.

        place_counts: nothing was there to push it away, so that being elsewhere is being lost. away: ranges in which it
        did not follow, and is lost; after the first of them it goes on wherever it is.
        """
        frames = np.arange(len(seen_pos))
        astray = self.detect_astray(frames, seen_pos, seen_quat_wxyz, place_counts)
        if place_counts and away:
            stays = slice(away[0][0], None)
            astray[stays] = self.detect_astray(frames[stays], seen_pos[stays], seen_quat_wxyz[stays])
        for first, stop in away:
            astray[first:stop] = True
        fell_s = find_fall_time(self.wanted_pos, seen_pos, 1.0 / self.fps)
        if fell_s is not None:
            astray[round(fell_s * self.fps) :] = True
        astray |= self._tips_over(frames, seen_quat_wxyz)
        least = round(_LEAST_S * self.fps)
        return [(a, b) for a, b in find_runs(astray) if b - a >= least or b == len(astray)]

    def detect_astray(
        self, frames: NDArray[np.int64], seen_pos: Array, seen_quat_wxyz: Array, place_counts: bool = False
    ) -> Flags:
        """(K,) whether bodies seen at (K, L, 3) and (K, L, 4) in frames (K,) are where the source is never then."""
        reach_m = max(_PLACE * self.tallest, _LEAST_M)

        def strayed(at: NDArray[np.int64]) -> Array:
            wanted = self.wanted_pos[at]
            pose = np.linalg.norm((seen_pos - seen_pos[:, :1]) - (wanted - wanted[:, :1]), axis=-1).mean(axis=-1)
            parts = [self._toppled(at, seen_pos, seen_quat_wxyz), pose / (_POSE * self.tallest)]
            if place_counts:
                parts.append(np.linalg.norm((seen_pos - wanted)[:, 0, :2], axis=-1) / reach_m)
            return np.asarray(np.max(parts, axis=0))

        return self._exceeds(strayed, frames)

    def _tips_over(self, frames: NDArray[np.int64], seen_quat_wxyz: Array) -> Flags:
        """(T,) the last moments in which a body seen at (T, L, 4) tips over, where the clip ends before it is down."""
        last = frames[max(len(frames) - round(_LAST_S * self.fps), 0) :]
        lean = self._least(lambda at: self._lean(at, seen_quat_wxyz[last]), last)
        before, tips = round(_TIPS_S * self.fps), np.zeros(len(frames), dtype=bool)
        if len(lean) > before and lean[-1] > max(np.radians(_TIPS_DEG), lean[-1 - before] + _GAINS_RAD):
            kept = np.flatnonzero(lean <= np.radians(_TIPS_DEG))
            tips[last[kept[-1] + 1 if len(kept) else 0] :] = True
        return tips

    def detect_toppled(self, frames: NDArray[np.int64], seen_pos: Array, seen_quat_wxyz: Array) -> Flags:
        """(K,) the same, by heights and lean alone: who faces elsewhere or takes another step still stands."""
        return self._exceeds(lambda at: self._toppled(at, seen_pos, seen_quat_wxyz), frames)

    def _toppled(self, at: NDArray[np.int64], seen_pos: Array, seen_quat_wxyz: Array) -> Array:
        """(K,) how far heights and lean of bodies are from those of the source's frames (K,); 1 is too far."""
        height = height_error(self.wanted_pos[at], seen_pos, self.tallest)
        return np.maximum(height / STRAY, self._lean(at, seen_quat_wxyz) / np.radians(_LEAN_DEG))

    def _lean(self, at: NDArray[np.int64], seen_quat_wxyz: Array) -> Array:
        """(K,) radians by which trunks of bodies (K, L, 4) lean otherwise than in the source's frames (K,)."""
        trunk = list(self.trunk)
        return _angle(_up(self.wanted_quat_wxyz[at][:, trunk]), _up(seen_quat_wxyz[:, trunk])).mean(axis=-1)

    def _exceeds(self, strayed: Callable[[NDArray[np.int64]], Array], frames: NDArray[np.int64]) -> Flags:
        """(K,) where all that the source does about frames (K,) is too far away; not being a number is so, too."""
        return np.asarray(self._least(strayed, frames, enough=1.0) > 1.0)

    def _least(
        self, strayed: Callable[[NDArray[np.int64]], Array], frames: NDArray[np.int64], enough: float = 0.0
    ) -> Array:
        """(K,) how far bodies are at least from all that the source does about frames (K,), or that it is enough."""
        late, least = round(_LATE_S * self.fps), np.full(len(frames), np.inf)
        for shift in sorted(range(-late, late + 1), key=abs):
            if (least <= enough).all():  # as it nearly always is with none at all
                break
            off = strayed(np.clip(frames + shift, 0, len(self.wanted_pos) - 1))
            least = np.minimum(least, np.where(np.isfinite(off), off, np.inf))
        return least


def _up(quat_wxyz: Array) -> Array:
    """(..., 3) the way up, in frames turned as (..., 4)."""
    return rotate(conjugate(quat_wxyz), np.broadcast_to([0.0, 0.0, 1.0], (*quat_wxyz.shape[:-1], 3)))


def _angle(one: Array, other: Array) -> Array:
    """(...) radians between unit vectors (..., 3)."""
    return np.asarray(np.arccos(np.clip(np.sum(one * other, axis=-1), -1.0, 1.0)))
