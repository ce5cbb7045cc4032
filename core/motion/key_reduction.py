# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys: a motion of one value a frame as cubic curves between a few of them, within a tolerance."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, angle_between, normalize, rotate
from .skeleton import Skeleton

Distance = Callable[[Array, Array], Array]
"""(N,) how far values (N, C) are from others (N, C)."""

_STEADY = 1e-9  # what changes by less is held by a key at either end


def compute_slopes(values: Array) -> Array:
    """(T, ...) change a frame of values (T, ...): what a curve's handles show."""
    return np.gradient(values, axis=0) if len(values) > 1 else np.zeros_like(values)


def choose_keys(values: Array, tolerance: float, distance: Distance) -> NDArray[np.int64]:
    """(K,) frames of values (T, C) whose keys are enough, the first and the last among them.

    Cubic Hermite curves through these keys, with ``compute_slopes`` there, are within the tolerance at every frame.
    """
    slopes, keys, last = compute_slopes(values), [0], len(values) - 1
    if last > 0 and np.ptp(values, axis=0).max() < _STEADY:
        return np.array([0, last])
    while keys[-1] < last:
        keys.append(_next_key(values, slopes, keys[-1], last, tolerance, distance))
    return np.array(keys)


def _next_key(values: Array, slopes: Array, start: int, last: int, tolerance: float, distance: Distance) -> int:
    """A frame that one curve leads to within the tolerance, as late as a search by doubling and halving finds."""
    span, far = 1, last - start
    while span < far and _fits(values, slopes, start, start + min(2 * span, far), tolerance, distance):
        span = min(2 * span, far)
    step = span // 2
    while step and span < far:
        if span + step <= far and _fits(values, slopes, start, start + span + step, tolerance, distance):
            span += step
        step //= 2
    return start + span


def _fits(values: Array, slopes: Array, start: int, stop: int, tolerance: float, distance: Distance) -> bool:
    inside = slice(start + 1, stop)
    found = interpolate_keys(values, slopes, start, stop)
    return bool((distance(found, values[inside]) <= tolerance).all())


def interpolate_keys(values: Array, slopes: Array, start: int, stop: int) -> Array:
    """(stop - start - 1, C) the cubic Hermite curve between two keys, at the frames between them."""
    span = stop - start
    s = (np.arange(1, span) / span)[:, None]
    ends = (1.0 - 3.0 * s**2 + 2.0 * s**3) * values[start] + (3.0 * s**2 - 2.0 * s**3) * values[stop]
    return np.asarray(ends + span * ((s - 2.0 * s**2 + s**3) * slopes[start] + (s**3 - s**2) * slopes[stop]))


def compute_reaches(skeleton: Skeleton) -> Array:
    """(B,) metres from each bone's head to the farthest tip that it carries at rest: its own or another's."""
    heads, quats = skeleton.rest_world()
    tips = heads + rotate(quats, skeleton.lengths[:, None] * np.array([0.0, 1.0, 0.0]))
    reaches = np.zeros(len(skeleton))
    for bone in range(len(skeleton)):
        holder = bone
        while holder >= 0:
            reaches[holder] = max(reaches[holder], float(np.linalg.norm(tips[bone] - heads[holder])))
            holder = int(skeleton.parents[holder])
    return reaches


def measure_channel(channel: str, reach_m: float, unit_m: float) -> Distance:
    """How many metres a bone's channel being off moves what it carries; unit_m: metres a unit of its location."""
    if channel == "location":
        return lambda a, b: unit_m * np.linalg.norm(a - b, axis=-1)
    if channel == "rotation_quaternion":
        return lambda a, b: reach_m * angle_between(normalize(a), normalize(b))
    if channel == "rotation_axis_angle":
        return lambda a, b: reach_m * angle_between(_axis_angle(a), _axis_angle(b))
    return lambda a, b: reach_m * np.abs(a - b).sum(axis=-1)  # Euler angles and scale: no less than it is


def _axis_angle(values: Array) -> Array:
    axis = values[:, 1:] / np.maximum(np.linalg.norm(values[:, 1:], axis=-1, keepdims=True), 1e-12)
    half = 0.5 * values[:, :1]
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=-1)
