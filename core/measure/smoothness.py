# SPDX-License-Identifier: GPL-3.0-or-later
"""How jerky a motion is, by itself and against the one that it came from."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array
from ..motion import Clip
from ..motion.repair import repair_clip
from ..motion.trim import find_trim

Flags = NDArray[np.bool_]

# A source with less jerk than this stands still; against it every breath would be a thousand times as jerky. A tenth of
# a millimetre, five times a second, is 3 m/s³; a calm walk has above 100.
_STILL_M_S3 = 10.0
_AT_ONCE = 4096  # frames


def jerk(pos: Array, fps: float, sound: Flags | None = None) -> float | None:
    """m/s³: the mean over frames and points of the length of the third difference of positions (T, P, 3), times fps³.

    sound: (T,) frames to go by; without it all. None where no four of them follow each other.
    It grows with the frame rate where a motion is noisy: compare at one rate only.
    """
    if len(pos) < 4 or not pos.shape[1]:
        return None
    lengths = np.linalg.norm(np.diff(pos, 3, axis=0), axis=-1)
    if sound is not None:
        lengths = lengths[sound[:-3] & sound[1:-2] & sound[2:-1] & sound[3:]]
    return float(lengths.mean() * fps**3) if len(lengths) else None


def jerk_ratio(own: float | None, source: float | None) -> float | None:
    """How many times as jerky as its source a motion is; a source that stands still counts as 10 m/s³."""
    return None if own is None or source is None else own / max(source, _STILL_M_S3)


def sound_frames(clip: Clip, fps: float, count: int) -> Flags:
    """(count,) frames at a rate that are motion and not near one which had to be repaired: errors are no jerk."""
    repair, trim = repair_clip(clip)[1], find_trim(clip)
    joints = [frame for _, frame in (*repair.spikes, *repair.jumps)]
    bad = np.array([*repair.lost_frames, *joints, *trim.cuts], dtype=np.int64)
    torn = np.ones(len(clip), dtype=bool)
    torn[trim.start : trim.stop] = False
    torn[bad] = True
    torn[1:] |= torn[:-1].copy()
    torn[:-1] |= torn[1:].copy()
    return ~torn[np.minimum(np.round(np.arange(count) * clip.fps / fps).astype(int), len(clip) - 1)]


def bone_places(clip: Clip, bones: Sequence[int], fps: float, until_s: float) -> Array:
    """(N, len(bones), 3) metres in the world at another rate, from the start up to ``until_s`` at most.

    Between frames by a cubic through the nearest four. A straight line would have a kink in each frame, which is a jerk
    that nobody sees.
    """
    chosen = np.asarray(bones, dtype=np.int64)
    places = np.concatenate([
        clip.frames(first, first + _AT_ONCE).world()[0][:, chosen] for first in range(0, len(clip), _AT_ONCE)
    ])  # fmt: skip
    count = int(np.floor(min(until_s, clip.duration_s) * fps + 1e-6)) + 1
    return places[:count] if fps == clip.fps else _between(places, np.arange(count) * clip.fps / fps)


def _between(values: Array, at: Array) -> Array:
    """(N, ...) of values (T, ...) at places (N,) between frames: Catmull-Rom, ends held."""
    last = len(values) - 1
    low = np.clip(np.floor(at + 1e-9).astype(int), 0, last)
    t = np.maximum(at - low, 0.0).reshape(-1, *[1] * (values.ndim - 1))
    a, b, c, d = (values[np.clip(low + step, 0, last)] for step in (-1, 0, 1, 2))
    return np.asarray(b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a))))
