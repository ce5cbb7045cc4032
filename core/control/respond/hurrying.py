# SPDX-License-Identifier: GPL-3.0-or-later
"""Hurrying (section 6.1): what takes longer in the library than there is time is planned longer, and played faster.

So a response is on time whatever the library has, as far as it may be hurried; what that costs is weighed against
transitions, so that a rougher way is taken before everything is played at twice its pace.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.time_warp import warp_clip
from ..editing.time_map import PaceBounds, invert_time_map, solve_time_map
from ..matching.features import FPS
from .response_tables import STEP, STEPS, ResponseTable
from .transition_graph import Frames

HURRY = 2.5
"""How many times as fast as it was recorded motion may be played: 40 % of the time that the library takes."""
SLOWEST = 0.5
_HURRY_M2 = 0.08  # what a second costs for each squared e-fold of its pace, in m² of transitions
_KEY_S, _KEY_STIFFNESS = 0.2, 20.0  # around a key moment the pace changes last


def price_hurry(source: Array | Frames, asked: float) -> Array:
    """m² that it costs to play so many frames of the library in so many fewer ones."""
    pace = np.maximum(np.asarray(source, dtype=float) / asked, 1.0)
    return np.asarray(_HURRY_M2 * asked / FPS * np.log(pace) ** 2)


def find_costs(table: ResponseTable, ends: Frames, frame: int, counts: Iterable[int]) -> Array:
    """What it costs by a table to be at its goal in exactly so many frames, for some numbers; inf for no way."""
    counts = np.fromiter(counts, dtype=np.int64)
    steps, rest = np.divmod(counts, STEP)
    begins = np.minimum(frame + rest, ends[frame])
    fits = (frame + rest <= ends[frame]) & (steps <= STEPS) & (counts > 0)
    cost = table.cost[np.minimum(steps, STEPS), begins].astype(float)
    return np.where(fits, cost, np.inf)


def most_frames(asked: int, hurry: float) -> int:
    """How many frames of the library may be played in so many, with so much hurry; rounded to whole frames."""
    return min(int((asked + 1) * hurry) if hurry > 1.0 else asked, STEP * STEPS)


def choose_length(table: ResponseTable, ends: Frames, frame: int, asked: int, hurry: float) -> int | None:
    """How many frames to plan so that a goal is there within ``asked`` frames at least cost; None for no way."""
    counts = np.arange(1, max(most_frames(asked, hurry), 1) + 1)
    cost = find_costs(table, ends, frame, counts) + price_hurry(counts, asked)
    best = int(np.argmin(cost))
    return int(counts[best]) if np.isfinite(cost[best]) else None


def solve_hurry(frames: int, moments: Mapping[int, float], hurry: float, rigid: Iterable[int] = ()) -> Array:
    """(N,) places among ``frames`` frames, one for each frame of what is played: those of ``moments`` at their time.

    moments: seconds by frame. rigid: key moments, around which the pace is kept as far as there is time for that.
    """
    away = np.full(frames, np.inf)
    for key in rigid:
        away = np.minimum(away, np.abs(np.arange(frames) - key) / (_KEY_S * FPS))
    stiffness = np.where(away[1:] < 1.0, _KEY_STIFFNESS, 1.0)
    times = solve_time_map(FPS, stiffness, moments, bound_paces(moments, hurry))
    return invert_time_map(times, FPS)


def bound_paces(moments: Mapping[int, float], hurry: float) -> PaceBounds:
    """Bounds for what is wanted in seconds by frame; a frame that rounding takes from a short time is let pass."""
    ends = [(0, 0.0), *sorted((frame, time_s * FPS) for frame, time_s in moments.items())]
    paces = [(last - first) / max(stops - begins, 1e-9) for (first, begins), (last, stops) in pairwise(ends)]
    slowest = min([SLOWEST, *(0.999 * pace for pace in paces if pace > 0.0)])
    return PaceBounds(slowest, max([hurry, *(1.001 * pace for pace in paces)]))


def hurry_clip(clip: Clip, key: int, asked: int, hurry: float) -> Clip:
    """A clip at 60 frames a second whose frame ``key`` is its frame ``asked``."""
    places = solve_hurry(len(clip), {key: asked / FPS}, hurry, (key,))
    return warp_clip(clip, places / FPS)
