# SPDX-License-Identifier: GPL-3.0-or-later
"""Hovering: nothing touches the ground, and yet the clip does not fall.

A captured actor who rolled on the floor had more flesh than the body that stands for them, and a foot whose toes were
not captured stands on nothing. No body can hover, so it is brought down to touch; what falls is a flight and is left.

A flight that begins or ends with hovering is one with it, and comes down too: a hop of 18 cm onto a hover of 6 cm keeps
10 cm. To let such flights be was tried on the stock dance_b, and its takes were further from the source, not nearer.

Between two flights there may be a stance that hovers, too: where the markers of a leg were lost, a run goes on some
centimetres above its floor, and its stances are told from its flights by what the centre of mass does.
"""

import numpy as np

from ..geometry.flags import find_runs
from ..geometry.quaternions import Array, rotate
from ..motion import Clip
from .model import BodyModel

_CLEAR_M = 0.015  # higher than this above the ground nothing is touched
_LEAST_S = 0.08
_EARTH_M_S2 = 9.81
# A body that falls with less than the first share of gravity is supported by something, unless it is higher than the
# second: then the capture was slowed down.
_HELD, _MOST_M = 0.6, 0.2
_REACH_S = 0.08
_LEAST_DROP_M = 0.005
_STANCE_S, _FALL_S = 0.05, 0.05  # what is shorter is no stance; seconds to both sides over which a fall is measured


def compute_hover_drop(body: BodyModel, clip: Clip, clearance: Array) -> Array:
    """(T,) metres by which to lower the clip so that it touches where it hovers; 0 elsewhere.

    clearance: (T,) metres from the ground up to the body's lowest point.
    """
    above = np.zeros(len(clip))
    height = centre_of_mass(body, clip)[:, 2]
    for start, stop in find_runs(clearance > _CLEAR_M):
        if stop - start < max(_LEAST_S * clip.fps, 3):
            continue
        if clearance[start:stop].max() <= _MOST_M and _fall(height[start:stop], clip.fps) < _HELD * _EARTH_M_S2:
            above[start:stop] = clearance[start:stop]
        else:
            above[start:stop] = _below_stances(clearance, height, clip.fps, start, stop)
    drop = _below(above, max(round(_REACH_S * clip.fps), 1))
    return drop if drop.max(initial=0.0) > _LEAST_DROP_M else np.zeros(len(clip))


def _below_stances(clearance: Array, height: Array, fps: float, start: int, stop: int) -> Array:
    """(stop - start,) metres by which the stances between flights hover in frames in which nothing touches the ground.

    In flight it goes steadily from what one stance hovers to what the next one does, which is no change of the fall.
    """
    none, reach = np.zeros(stop - start), max(round(_FALL_S * fps), 2)
    carried = np.zeros(stop - start, dtype=bool)
    for frame in range(max(start, reach), min(stop, len(height) - reach)):
        carried[frame - start] = _fall(height[frame - reach : frame + reach + 1], fps) < _HELD * _EARTH_M_S2
    # What is beside the ground is the end of a stance there.
    stances = [(a, b) for a, b in find_runs(carried) if a > 0 and b < stop - start and b - a >= _STANCE_S * fps]
    lows = [float(clearance[start + a : start + b].min()) for a, b in stances]
    if not stances or max(lows) > _MOST_M:  # who stands so high has climbed something
        return none
    frames = [-1, *(frame for a, b in stances for frame in (a, b - 1)), stop - start]
    values = [0.0, *(low for low in lows for _ in range(2)), 0.0]
    return np.minimum(np.interp(np.arange(stop - start), frames, values), clearance[start:stop])


def _fall(height: Array, fps: float) -> float:
    """m/s² by which heights (N,) fall."""
    return float(-2.0 * np.polyfit(np.arange(len(height)) / fps, height, 2)[0])


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
