# SPDX-License-Identifier: GPL-3.0-or-later
"""More frames a second than a clip has, on smooth curves: straight lines between frames would jerk at every one."""

import numpy as np

from ..geometry.quaternions import Array
from .clip import Clip


def resample_smoothly(clip: Clip, fps: float) -> Clip:
    """The clip at another rate; where that is higher, on Catmull-Rom splines through its frames.

    Frames that both rates have keep their values. A lower rate leaves frames out, as ``Clip.resample`` does.
    """
    plain = clip.resample(fps)
    if fps <= clip.fps or len(clip) < 3:
        return plain
    places = np.arange(len(plain)) * (clip.fps / fps)
    pos = _spline(clip.local_pos, places)
    # Between frames rotations are close together, and components of unrolled quaternions can be interpolated.
    quat = _spline(clip.local_quat_wxyz, places)
    return Clip(clip.skeleton, fps, pos, quat, clip.name, plain.tags)


def _spline(values: Array, places: Array) -> Array:
    """(N, ...) values at places (N,) between frames of ``values`` (T, ...)."""
    low = np.minimum(places.astype(int), len(values) - 2)
    part = (places - low).reshape(-1, *[1] * (values.ndim - 1))
    padded = np.concatenate([2.0 * values[:1] - values[1:2], values, 2.0 * values[-1:] - values[-2:-1]])
    before, here, there, after = (padded[low + shift] for shift in range(4))
    bend = 2.0 * before - 5.0 * here + 4.0 * there - after
    twist = 3.0 * (here - there) + after - before
    return np.asarray(here + 0.5 * part * (there - before + part * (bend + part * twist)))
