# SPDX-License-Identifier: GPL-3.0-or-later
"""From one clip to another and back: a motion that is another one for some of its frames."""

from dataclasses import replace

import numpy as np

from ..geometry.quaternions import Array, slerp
from .clip import Clip


def ease_in_and_out(share: Array) -> Array:
    """(...) from 0 to 1 as ``share`` does, without a jump of speed or acceleration at either end."""
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s**3 * (10.0 - 15.0 * s + 6.0 * s**2))


def fade_weights(count: int, first: int, last: int, fade: int) -> Array:
    """(count,) how much of another motion there is: all between frames ``first`` and ``last``, but for fades inside.

    Both are still the clip's own frames, unless it begins or ends there: then nothing has to be faded.
    """
    frames = np.arange(count)
    most = max(min(fade, (last - first) // 2), 1)
    weights = np.where((frames >= first) & (frames <= last), 1.0, 0.0)
    if first > 0:
        weights *= ease_in_and_out((frames - first) / most)
    if last < count - 1:
        weights *= ease_in_and_out((last - frames) / most)
    return np.asarray(weights)


def cross_fade(clip: Clip, other: Clip, weights: Array) -> Clip:
    """The clip with as much of another one as weights (T,) from 0 to 1 say, frame by frame; 0 and 1 keep every bit."""
    share = weights[:, None, None]
    pos = (1.0 - share) * clip.local_pos + share * other.local_pos
    quat = slerp(clip.local_quat_wxyz, other.local_quat_wxyz, weights[:, None])
    for weight, exact in ((0.0, clip), (1.0, other)):
        pos = np.where(share == weight, exact.local_pos, pos)
        quat = np.where(share == weight, exact.local_quat_wxyz, quat)
    return replace(clip, local_pos=pos, local_quat_wxyz=quat)
