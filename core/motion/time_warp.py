# SPDX-License-Identifier: GPL-3.0-or-later
"""Time warp: clips played slower or faster in places, at the same frame rate and without a jump in speed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array
from .clip import Clip, Tag

_FINE_S = 0.002  # the time map is summed up in steps no longer than this, and than a quarter of a frame


@dataclass(frozen=True)
class TimeStretch:
    """Seconds ``start_s`` to ``stop_s`` of a clip that are to last ``factor`` times as long."""

    start_s: float
    stop_s: float
    factor: float


def compute_time_warp(clip: Clip, stretches: Sequence[TimeStretch], ramp_s: float) -> Array:
    """(N,) seconds in the clip for every frame of the clip with its stretches played slower or faster.

    stretches: in order, apart from each other. Before and after each the speed changes smoothly within ``ramp_s`` of
    the clip, or within what is left before the next. It ends with
    the clip, or less than a frame after it.
    """
    count = int(np.ceil(clip.duration_s / min(_FINE_S, 0.25 * clip.dt_s))) + 1
    own = np.linspace(0.0, clip.duration_s, count)
    slower = np.zeros(count)
    for index, part in enumerate(stretches):
        before = part.start_s - stretches[index - 1].stop_s if index else np.inf
        after = stretches[index + 1].start_s - part.stop_s if index + 1 < len(stretches) else np.inf
        comes = _eased((own - part.start_s) / max(min(ramp_s, before), 1e-9) + 1.0)
        goes = _eased((part.stop_s - own) / max(min(ramp_s, after), 1e-9) + 1.0)
        slower += np.log(part.factor) * comes * goes
    pace = np.exp(slower)
    played = np.concatenate([[0.0], np.cumsum(0.5 * (pace[1:] + pace[:-1]) * np.diff(own))])
    frames = np.arange(int(np.ceil(played[-1] * clip.fps - 1e-6)) + 1)
    beyond = np.maximum(frames / clip.fps - played[-1], 0.0)
    return np.interp(frames / clip.fps, played, own) + beyond


def warp_clip(clip: Clip, times_s: Array) -> Clip:
    """The clip whose frames are the poses at ``times_s`` (N,), in order, at the same frame rate.

    Between frames by a cubic through the nearest four: straight lines would be kinks that a body has to follow. Up to a
    frame after the last it goes straight on.
    """
    places = np.clip(np.asarray(times_s, dtype=float) * clip.fps, 0.0, len(clip) - 1e-5)
    places = np.where(np.abs(places - np.round(places)) < 1e-6, np.round(places), places)  # frames keep every bit
    starts = [int(np.searchsorted(places, tag.start - 1e-6)) for tag in clip.tags]
    stops = [int(np.searchsorted(places, tag.stop - 1e-6)) for tag in clip.tags]
    spans = zip(clip.tags, starts, stops, strict=True)
    tags = tuple(Tag(tag.name, start, stop) for tag, start, stop in spans if start < stop)
    pos, quat = (_between(values, places) for values in (clip.local_pos, clip.local_quat_wxyz))
    return Clip(clip.skeleton, clip.fps, pos, quat, clip.name, tags)


def _eased(share: Array) -> Array:
    """0 up to 0 and 1 from 1 on, smooth in between."""
    held = np.clip(share, 0.0, 1.0)
    return np.asarray(held**2 * (3.0 - 2.0 * held))


def _between(values: Array, places: Array) -> Array:
    """(N, ...) of values (T, ...) at places (N,) between frames: Catmull-Rom, going straight on at both ends."""
    if len(values) < 2:
        return np.repeat(values, len(places), axis=0)
    after, step = 2.0 * values[-1:] - values[-2:-1], values[-1:] - values[-2:-1]
    padded = np.concatenate([2.0 * values[:1] - values[1:2], values, after, after + step])
    low = places.astype(int)
    t = (places - low).reshape(-1, *[1] * (values.ndim - 1))
    a, b, c, d = (padded[low + step] for step in range(4))
    return np.asarray(b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a))))
