# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a clip is not one motion: jumps of the whole body from one frame to the next, and the pieces between them.

A jump is told from a fast motion by its neighbours: a body that is thrown, hit or landing is about as fast in the
frames around, one that was cut or moved elsewhere is not.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array
from .clip import Clip
from .flights import BodyPoints, estimate_body_points

PERSON_M = 1.7
# As a mean over a person's points: how far a jump is, how fast the speed must change for it, and how many times as much
# as it changes within so many seconds around. Kicks, landings and flips stay below at least one of them by half.
_JUMP_M = 0.08
_JUMP_M_S2 = 80.0
_UNUSUAL = 6.0
_AROUND_S = 0.15
_FEWEST_AROUND = 3
_NOISE_M = 0.001

_DROPOUT_S = 0.5  # a piece that is elsewhere for less than this is an error of capture
_SPIKE_S = 0.034  # and for less than this one that ``repair`` finds joint by joint
_BACK_M_S, _BACK_M = 3.0, 0.15  # how far from where it went away the body may come back
_STILL_M_S = 0.05


@dataclass(frozen=True)
class Piece:
    """Frames ``start`` up to, not with, ``stop`` without a jump. is_still: whether pose and place stay the same."""

    start: int
    stop: int
    is_still: bool

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class Discontinuities:
    """pieces: the clip's, in order. dropouts: (T,) frames in between in which the body is elsewhere for a moment."""

    body: BodyPoints
    pieces: tuple[Piece, ...]
    dropouts: NDArray[np.bool_]


def find_discontinuities(clip: Clip) -> Discontinuities:
    """The clip's pieces; one that goes away and comes back within half a second is a dropout in another one."""
    body = estimate_body_points(clip)
    points = body.points * (PERSON_M / max(body.size_m, 1e-9))
    edges = [0, *find_jumps(points, clip.fps), len(clip)]
    dropouts = np.zeros(len(clip), dtype=bool)
    spans, at = [(0, edges[1])], 1
    while at < len(edges) - 1:
        start = edges[at]
        back = [
            edge
            for edge in edges[at + 1 : -1]
            if edge - start <= _DROPOUT_S * clip.fps and _continues(points, start - 1, edge, clip.fps)
        ]
        if back:  # away for one piece or several
            dropouts[start : back[0]] = back[0] - start > _SPIKE_S * clip.fps
            at = edges.index(back[0])
            spans[-1] = (spans[-1][0], edges[at + 1])
        else:
            spans.append((start, edges[at + 1]))
        at += 1
    pieces = tuple(Piece(start, stop, _is_still(points[start:stop], clip.fps)) for start, stop in spans)
    return Discontinuities(body, pieces, dropouts)


def find_jumps(points: Array, fps: float) -> list[int]:
    """Frames that the body (T, P, 3), in metres of a person, cannot have got to from the frame before."""
    if len(points) < 2 + _FEWEST_AROUND:
        return []
    step = np.diff(points, axis=0)
    before, after = np.concatenate([step[1:2], step[:-1]]), np.concatenate([step[1:], step[-2:-1]])
    change = np.linalg.norm(step - 0.5 * (before + after), axis=-1).mean(-1)
    if len(change) > 2:  # a jump at an end must not hide in the frame beside it
        change[0] = np.linalg.norm(step[0] - step[1], axis=-1).mean()
        change[-1] = np.linalg.norm(step[-1] - step[-2], axis=-1).mean()
    far = np.flatnonzero(change > max(_JUMP_M, _JUMP_M_S2 / fps**2))
    return [int(k) + 1 for k in far if _stands_out(change, step, int(k), fps)]


def _stands_out(change: Array, step: Array, k: int, fps: float) -> bool:
    """Whether step ``k`` differs from its neighbours by far more than those differ from theirs."""
    # The steps beside a jump differ from it as much: of several in a row it is the longest.
    nearby = np.linalg.norm(step[max(k - 1, 0) : k + 2], axis=-1).mean(-1)
    if np.linalg.norm(step[k], axis=-1).mean() < 0.6 * nearby.max():
        return False
    reach = max(round(_AROUND_S * fps), _FEWEST_AROUND)
    around = np.concatenate([change[max(k - 1 - reach, 0) : max(k - 1, 0)], change[k + 2 : k + 2 + reach]])
    return len(around) >= _FEWEST_AROUND and bool(change[k] > _UNUSUAL * (np.percentile(around, 90) + _NOISE_M))


def _continues(points: Array, before: int, after: int, fps: float) -> bool:
    """Whether a body could be in frame ``after`` if it was in ``before``, without a hurry."""
    apart = float(np.linalg.norm(points[after] - points[before], axis=-1).mean())
    return apart < _BACK_M + _BACK_M_S * (after - before) / fps


def _is_still(points: Array, fps: float) -> bool:
    """Whether points (T, P, 3) hardly move; one frame does not."""
    if len(points) < 2:
        return True
    moved = float(np.linalg.norm(np.ptp(points, axis=0), axis=-1).mean())
    return moved < _STILL_M_S * max(len(points) / fps, 1.0)
