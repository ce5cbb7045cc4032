# SPDX-License-Identifier: GPL-3.0-or-later
"""What steps and balance say of a frame rate, where nothing flies.

Whoever walks faster takes longer and quicker strides, so that a stride's length times its time hardly changes from a
stroll to a sprint: Inman's walk ratio. Played k times too slow, it is k times as large. And whoever is played too fast
leans the wrong way: the ground would have to push from where no foot is (Vukobratovic's zero moment point).
"""

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array
from .flights import GRAVITY_M_S2, BodyPoints

USUAL_STRIDE = 2.2
"""A stride's length, in body sizes, times its time, in units of the time in which a body falls half its size."""
# What is surely too slow: most strides, and nearly every single one. Walks, runs, crouches and turns have 0.5 to 3.
_SLOW, _SLOW_EACH = 7.5, 3.0
_FEWEST = 2  # strides
_LOW = 0.12  # of the size: a foot's height, most of the time
_APART = 0.25  # of the size, from footprint to footprint
_STANDS = 0.3  # of the body's speed
_STEADY = 0.65  # of the speed that it has at most: what it must have half of the time

_TOUCHES = 0.06  # of the size above the lowest point
_LEVEL = 0.1  # of the size: what stands on a floor is always about as low
_ACCELERATION_S = 0.12  # on both sides, over which it is measured
_MOMENTS = 400  # that are looked at
# Of the size: from where and how often the ground's push may be off the feet, and from where it is out of the question.
_BALANCED, _MOSTLY_BALANCED = 0.018, 0.035
_OFF, _OFTEN_OFF = 0.047, 0.094


def stride_ratio(body: BodyPoints, fps: float) -> float | None:
    """How many times too slow the body's strides are; None where they are not surely so."""
    strides = _find_strides(body)
    if strides is None:
        return None
    frames, lengths = strides
    found = lengths / body.size_m * (frames / fps) * np.sqrt(GRAVITY_M_S2 / body.size_m)
    middle = float(np.median(found))
    return middle / USUAL_STRIDE if middle > _SLOW and np.percentile(found, 25) > _SLOW_EACH else None


def is_off_balance(body: BodyPoints, fps: float) -> bool:
    """Whether nobody could stay on their feet in this motion at ``fps``."""
    return _imbalance_exceeds(body, fps, _OFF, _OFTEN_OFF) == (True, True)


def is_balanced(body: BodyPoints, fps: float) -> bool:
    """Whether somebody clearly could."""
    return _imbalance_exceeds(body, fps, _BALANCED, _MOSTLY_BALANCED) == (False, False)


def _find_strides(body: BodyPoints) -> tuple[Array, Array] | None:
    """Frames (S,) and metres (S,) of the strides of the foot that takes most of them; None where nobody strides."""
    points, size = body.points, body.size_m
    way = np.linalg.norm(np.diff(body.centre[:, :2], axis=0), axis=-1)
    if not len(way) or not np.median(way) > _STEADY * np.percentile(way, 90):
        return None  # it stands, or stops and goes, as fighters do: then a stride takes as long as it likes
    travelled = np.concatenate([[0.0], np.cumsum(way)])
    slow = np.where(way > _STANDS * np.median(way), _STANDS * way, 0.0)  # a foot stands while the body goes on over it
    heights = points[..., 2] - points[..., 2].min(1, keepdims=True)
    best: list[int] = []
    for point in np.flatnonzero(np.median(heights, axis=0) < _LOW * size):
        prints = _footprints(points[:, point, :2], slow, _APART * size)
        best = prints if len(prints) > len(best) else best
    if len(best) <= _FEWEST:
        return None
    return np.diff(best).astype(float), np.diff(travelled[best])


def _footprints(path: Array, slow: Array, apart: float) -> list[int]:
    """Frames in which a point (T, 2), slower than ``slow`` (T - 1,), comes to a stand elsewhere than the last time."""
    stands = np.linalg.norm(np.diff(path, axis=0), axis=-1) < slow
    begins = np.flatnonzero(stands & ~np.concatenate([[False], stands[:-1]]))
    found: list[int] = []
    for frame in begins:
        if not found or np.linalg.norm(path[frame] - path[found[-1]]) > apart:
            found.append(int(frame))
    return found


def _imbalance_exceeds(body: BodyPoints, fps: float, middle: float, often: float) -> tuple[bool, bool]:
    """Whether the median and the 80th percentile of how far the ground's push is off the feet exceed so much."""
    off = _distances_off_feet(body, fps)
    if off is None:
        return False, True
    return bool(np.median(off) > middle * body.size_m), bool(np.percentile(off, 80) > often * body.size_m)


def _distances_off_feet(body: BodyPoints, fps: float) -> Array | None:
    """(N,) metres from the zero moment point to what touches the floor, at some moments; None without a floor."""
    reach = max(round(_ACCELERATION_S * fps), 2)
    count = len(body.centre) - 2 * reach
    if count < 2 * reach:
        return None
    frames = reach + np.unique(np.linspace(0, count - 1, min(count, _MOMENTS)).astype(int))
    acceleration = _accelerations(body.centre, frames, reach) * fps**2
    points, centre = body.points[frames], body.centre[frames]
    ground = points[..., 2].min(1)
    if np.ptp(np.percentile(ground, [10, 90])) > _LEVEL * body.size_m:
        return None  # no floor: it swings or climbs
    lever = (centre[:, 2] - ground) / np.maximum(GRAVITY_M_S2 + acceleration[:, 2], 2.0)
    push = centre[:, :2] - lever[:, None] * acceleration[:, :2]
    touches = points[..., 2] < (ground + _TOUCHES * body.size_m)[:, None]
    return np.array([_distance_to_feet(*one) for one in zip(push, points[..., :2], touches, strict=True)])


def _accelerations(path: Array, frames: NDArray[np.int64], reach: int) -> Array:
    """(N, 3) a frame squared: of the parabola through so many frames on both sides of each."""
    steps = np.arange(-reach, reach + 1)
    bow = steps**2 - np.mean(steps**2)
    return np.asarray(2.0 * np.einsum("k,nkc->nc", bow / (bow @ steps**2), path[frames[:, None] + steps]))


def _distance_to_feet(place: Array, points: Array, touches: NDArray[np.bool_]) -> float:
    """Metres from a place (2,) to the nearest line between two of the points (P, 2) that touch the ground."""
    feet = points[touches]
    first, second = (feet[index] for index in np.triu_indices(len(feet)))
    along = second - first
    share = np.sum((place - first) * along, -1) / np.maximum(np.sum(along**2, -1), 1e-9)
    return float(np.linalg.norm(first + np.clip(share, 0.0, 1.0)[:, None] * along - place, axis=-1).min())
