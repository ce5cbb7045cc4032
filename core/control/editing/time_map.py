# SPDX-License-Identifier: GPL-3.0-or-later
"""Time maps: when every frame of a clip happens, so that key moments are on time and the pace changes smoothly.

The pace's Laplacian is kept as far as stiffness by frame asks for: a sparse quadratic programme in how long each step
from frame to frame lasts, with equalities for the key moments and bounds for the pace.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import BadSettings
from ...geometry.quaternions import Array
from .constraints import FrameNumbers

_EASE_S = 0.2  # over which the pace changes
_ROUNDS = 60
_NEAR = 1e-7  # of a frame


@dataclass(frozen=True)
class PaceBounds:
    """How slow and how fast a motion may be played; its source is played at 1."""

    slowest: float = 0.5
    fastest: float = 2.0

    def __post_init__(self) -> None:
        if not (0.0 < self.slowest <= 1.0 <= self.fastest < np.inf):
            raise BadSettings(
                f"The pace is bounded by {self.slowest:g} and {self.fastest:g}", "Give 1 or less, and 1 or more"
            )


def require_possible_times(
    fps: float, wanted: Mapping[int, float], bounds: PaceBounds, numbers: FrameNumbers | None = None
) -> list[tuple[int, float]]:
    """(frame, moment in frames) of all that is wanted, seconds by frame, from the first frame on.

    Refuses what would be faster or slower than ``bounds``, and says what would be possible.
    """
    numbers = numbers or FrameNumbers(fps)
    ends = [(0, 0.0)]
    for frame, time_s in sorted(wanted.items()):
        before, begins = ends[-1]
        moment = time_s * fps
        if frame == 0 and abs(moment) < _NEAR:
            continue
        earliest, latest = begins + (frame - before) / bounds.fastest, begins + (frame - before) / bounds.slowest
        if not earliest - _NEAR <= moment <= latest + _NEAR:
            bound = f"faster than {bounds.fastest:g}" if moment < earliest else f"slower than {bounds.slowest:g}"
            first, last = np.ceil(numbers.result(earliest / fps)), np.floor(numbers.result(latest / fps))
            raise BadSettings(
                f"Frame {numbers.source(frame)} cannot be at frame {numbers.result(time_s):g} ({time_s:.2f} s): "
                f"it is played no {bound} times its pace",
                f"The earliest is frame {first:.0f} ({earliest / fps:.2f} s), "
                f"the latest frame {last:.0f} ({latest / fps:.2f} s)",
            )
        ends.append((frame, moment))
    return ends


def solve_time_map(
    fps: float,
    stiffness: Array,
    wanted: Mapping[int, float],
    bounds: PaceBounds,
    numbers: FrameNumbers | None = None,
) -> Array:
    """(T,) seconds at which each frame of a clip happens; the first at 0.

    stiffness: (T - 1,) how much each step from frame to frame resists another pace. wanted: seconds by frame, as
    ``require_possible_times`` has them.
    """
    ends = require_possible_times(fps, wanted, bounds, numbers)
    lasts = np.ones(len(stiffness))
    if len(stiffness):
        lasts = _solve_steps(stiffness, (_EASE_S * fps) ** 2, ends, (1.0 / bounds.fastest, 1.0 / bounds.slowest))
    times = np.concatenate([[0.0], np.cumsum(lasts)])
    for (first, begins), (last, stops) in itertools.pairwise(ends):  # sums have lost a bit or two
        share = (times[first : last + 1] - times[first]) / (times[last] - times[first])
        times[first : last + 1] = begins + share * (stops - begins)
    last, stops = ends[-1]
    times[last:] += stops - times[last]
    return np.asarray(times / fps)


def _solve_steps(
    stiffness: Array, ease: float, ends: Sequence[tuple[int, float]], bounds: tuple[float, float]
) -> Array:
    """(N,) how long steps last, in frames: nearest to 1 by stiffness, smooth, within bounds, and with the wanted sums.

    An active-set method: steps that leave the bounds are held there, and what is left is solved again.
    """
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    count = len(stiffness)
    slope = sparse.diags_array([-np.ones(count - 1), np.ones(count - 1)], offsets=[0, 1], shape=(count - 1, count))
    energy = (sparse.diags_array(stiffness) + ease * (slope.T @ slope)).tocsc()
    spans = list(itertools.pairwise(ends))
    sums = np.zeros((len(spans), count))
    for row, ((first, _), (last, _)) in enumerate(spans):
        sums[row, first:last] = 1.0
    excess = np.array([stops - begins - (last - first) for (first, begins), (last, stops) in spans])
    low, high = bounds[0] - 1.0, bounds[1] - 1.0
    change, held = np.zeros(count), np.zeros(count, dtype=bool)
    for _ in range(_ROUNDS):
        free = np.flatnonzero(~held)
        live = [row for row in range(len(spans)) if sums[row, free].any()]
        fixed = change[held]
        rows = sparse.csc_array(sums[live][:, free])
        system = sparse.block_array([[energy[free][:, free], rows.T], [rows, None]], format="csc")
        right = np.concatenate([-energy[free][:, held] @ fixed, excess[live] - sums[live][:, held] @ fixed])
        change[free] = spsolve(system, right)[: len(free)]
        over = ~held & ((change < low - _NEAR) | (change > high + _NEAR))
        if not over.any():
            break
        # Only what leaves on the worse side is held at first: holding both sides at once may leave no room.
        below, above = np.maximum(low - change, 0.0).max(), np.maximum(change - high, 0.0).max()
        over &= change < low if below > above else change > high
        change[over] = low if below > above else high
        held |= over
    return np.asarray(1.0 + np.clip(change, low, high))


def invert_time_map(times_s: Array, fps: float) -> Array:
    """(N,) places among the frames of the source, one for each frame of the result, up to the last moment.

    times_s: (T,) seconds at which the source's frames happen. Between them the map is a monotone cubic.
    """
    from scipy.interpolate import PchipInterpolator

    if len(times_s) < 2:
        return np.zeros(len(times_s))
    count = int(np.floor(times_s[-1] * fps + 1e-6)) + 1
    moments = np.minimum(np.arange(count) / fps, times_s[-1])
    places = np.asarray(PchipInterpolator(times_s, np.arange(len(times_s), dtype=float))(moments))
    whole = np.round(places)
    return np.asarray(np.where(np.abs(places - whole) < 1e-6, whole, places))
