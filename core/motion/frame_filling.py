# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that are no good, made from the sound ones before and after them."""

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, slerp


def _neighbours(bad: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """For each frame the sound frames before and after it, and how far between them it is; ends are held."""
    good = np.flatnonzero(~bad)
    frames = np.arange(len(bad))
    after = np.searchsorted(good, frames).clip(0, len(good) - 1)
    before = np.maximum(np.searchsorted(good, frames, side="right") - 1, 0)
    low, high = good[before], good[after]
    part: Array = np.clip((frames - low) / np.maximum(high - low, 1), 0.0, 1.0)
    return low, high, part


def fill_linear(values: Array, bad: NDArray[np.bool_]) -> Array:
    """Values (T, ...) with straight lines over bad frames (T,)."""
    if not bad.any():
        return values
    low, high, part = _neighbours(bad)
    weight: Array = part.reshape(-1, *[1] * (values.ndim - 1))
    between: Array = values[low] * (1.0 - weight) + values[high] * weight
    return between


def fill_slerp(quat: Array, bad: NDArray[np.bool_]) -> Array:
    """Rotations (T, ..., 4) that turn steadily over bad frames (T,)."""
    if not bad.any():
        return quat
    low, high, part = _neighbours(bad)
    return slerp(quat[low], quat[high], np.broadcast_to(part.reshape(-1, *[1] * (quat.ndim - 2)), quat.shape[:-1]))
