# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a clip hovers: nothing touches the ground, and yet it does not fall.

A captured actor who rolled on the floor had more flesh than the body that stands for them, and a foot whose toes were
not captured stands on nothing. No body can hover, so it is brought down to touch; what falls is a flight and is left.
"""

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, rotate
from ..motion import Clip
from .model import BodyModel

_CLEAR_M = 0.015  # higher than this above the ground nothing is touched
_LEAST_S = 0.08
_EARTH_M_S2 = 9.81
# Who falls with less than the first share of gravity is held by something, unless they are higher than the second: then
# the capture was slowed down.
_HELD, _MOST_M = 0.6, 0.2
_REACH_S = 0.08
_LEAST_DROP_M = 0.005


def hover(body: BodyModel, clip: Clip, clearance: Array) -> Array:
    """(T,) metres by which to lower the clip so that it touches where it hovers; 0 elsewhere.

    clearance: (T,) metres from the ground up to the body's lowest point.
    """
    reach = max(round(_REACH_S * clip.fps), 1)
    least = max(_LEAST_S * clip.fps, 3)
    height = centre_of_mass(body, clip)[:, 2]
    above = np.zeros(len(clip))
    for start, stop in _runs(clearance > _CLEAR_M):
        if stop - start < least or clearance[start:stop].max() > _MOST_M or _falls(height[start:stop], clip.fps):
            continue
        begins = np.clip(np.arange(start, stop) - reach, start, max(stop - 2 * reach - 1, start))
        falls = np.array([_falls(height[at : min(at + 2 * reach + 1, stop)], clip.fps) for at in begins])
        for first, last in _runs(~falls):
            if last - first >= least:
                above[start + first : start + last] = clearance[start + first : start + last]
        # A flight between is lowered as steadily as it takes from one end to the other: so it still falls as it did.
        for first, last in _runs(falls):
            left, right = (above[at] if 0 <= at < len(above) else 0.0 for at in (start + first - 1, start + last))
            above[start + first : start + last] = np.linspace(left, right, last - first + 2)[1:-1]
    drop = _below(above, reach)
    return drop if drop.max(initial=0.0) > _LEAST_DROP_M else np.zeros(len(clip))


def _runs(now: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Starts and stops of stretches in which something (T,) holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], now.astype(int), [0]])))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _falls(height: Array, fps: float) -> bool:
    """Whether heights (T,) in metres, at least three, are those of a flight: a parabola that gravity bends."""
    return bool(-2.0 * np.polyfit(np.arange(len(height)) / fps, height, 2)[0] > _HELD * _EARTH_M_S2)


def centre_of_mass(body: BodyModel, clip: Clip) -> Array:
    """(T, 3) metres in the world of the links riding on their bones."""
    pos, quat = clip.world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    own = np.array([link.com for link in body.links])
    places = pos[:, bones] + rotate(quat[:, bones], np.broadcast_to(own, (len(clip), *own.shape)))
    masses = np.array([link.mass for link in body.links])
    return np.asarray(np.einsum("tlc,l->tc", places, masses / masses.sum()))


def _below(values: Array, reach: int) -> Array:
    """(T,) a smooth curve that is nowhere above values (T,)."""
    padded = np.pad(values, reach, mode="edge")
    least = np.min([padded[k : k + len(values)] for k in range(2 * reach + 1)], axis=0)
    window = np.hanning(2 * reach + 3)[1:-1]
    return np.convolve(np.pad(least, reach, mode="edge"), window / window.sum(), mode="valid")
