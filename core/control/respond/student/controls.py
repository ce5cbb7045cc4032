# SPDX-License-Identifier: GPL-3.0-or-later
"""What a student is told in each frame (section 5.1): action, time left, and perhaps a direction and a place."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....geometry.quaternions import Array
from ....learn.recurrent import Floats32
from ...matching.matching import Complex
from .state_layout import STUDENT_FPS

LONGEST_S = 2.5
"""A response time that is longer is told as so long."""
_SOON_S = (0.2, 0.06)  # of further columns for time: the last moments are told more finely
_FAR_M = 3.0


@dataclass(frozen=True, eq=False)
class Controls:
    """Of T frames or characters. action: (T,) which word. left_s: (T,) until it is to be done.

    heading: (T,) radians in the world to face then, NaN for any. place: (T,) complex metres, NaN for anywhere.
    """

    action: np.ndarray
    left_s: Array
    heading: Array
    place: Complex


def encode_controls(words: int, told: Controls, pos: Complex, yaw: Array, key: Floats32) -> Floats32:
    """(T, U) as the network is told them, by characters at ``pos`` (T,) that face ``yaw`` (T,).

    key: (T, K) the key pose to come to, as ``KeyChoice`` has it.
    """
    count = len(pos)
    found = np.zeros((count, control_size(words, key.shape[1])), dtype=np.float32)
    found[np.arange(count), told.action] = 1.0
    left = np.clip(told.left_s, 0.0, LONGEST_S)
    found[:, words], found[:, words + 1], found[:, words + 8] = left, *(np.exp(-left / soon) for soon in _SOON_S)
    faces = np.isfinite(told.heading)
    away = np.where(faces, told.heading - yaw, 0.0)
    found[:, words + 2] = faces
    found[:, words + 3], found[:, words + 4] = np.where(faces, np.cos(away), 0.0), np.where(faces, np.sin(away), 0.0)
    goes = np.isfinite(told.place)
    there = np.where(goes, (told.place - pos) * np.exp(-1j * yaw), 0.0)
    there = there / np.maximum(np.abs(there) / _FAR_M, 1.0)
    found[:, words + 5], found[:, words + 6], found[:, words + 7] = goes, there.real, there.imag
    found[:, control_size(words, 0) :] = key
    return found


def count_due(left_s: Array, before_s: Array) -> NDArray[np.int64]:
    """(T,) whole frames that are left after a step, 0 for the one at which the time is out, and -1 after that.

    before_s: (T,) what was left after the step before.
    """
    frames = np.ceil(left_s * STUDENT_FPS - 1e-6).astype(np.int64)
    return np.where((left_s <= 1e-9) & (before_s <= 1e-9), -1, frames)


def heading_column(words: int) -> int:
    """The first of three columns: whether there is a direction, and the cosine and sine of what is left of it."""
    return words + 2


def place_column(words: int) -> int:
    """The first of three columns: whether there is a place, and metres forwards and to the left."""
    return words + 5


def control_size(words: int, key_size: int) -> int:
    """U, where a key pose has so many numbers."""
    return words + 9 + key_size
