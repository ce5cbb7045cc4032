# SPDX-License-Identifier: GPL-3.0-or-later
"""Jitter filter: frame-to-frame noise, as pose estimates from a video have, is smoothed before physics follows it.

Jitter differs from motion by its autocorrelation: noise is taken back in the next frame, and a body goes on. Only where
most accelerations are jitter is anything changed; a capture with markers, a stunt or a fast hand is far from that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, to_rotation_vector
from .clip import Clip
from .frame_filling import fill_linear, fill_slerp

_LEAST_TURN, _LEAST_M = np.radians(1.0), 0.005  # less than this on each axis does no harm
# Autocorrelation of accelerations where most is jitter: -2/3 in noise alone, and no less than -0.4 in a fast motion
# with as few as 12 frames a second.
_BACK = -0.45
_STILL = 1e-4  # radians: with less jitter than this a bone does not move at all
_LEAST_FRAMES = 12
_NARROWEST, _MOST_S = 0.5, 0.15  # frames and seconds: smallest and largest standard deviation of the kernel
_REACH = 3.0  # standard deviations, beyond which the kernel is cut off
_SAME = 1e-6  # a frame that is like the one before to this, in all numbers, is the same picture again
_WILD, _ROUNDS = 4.0, 3  # times the median: such an outlier is left out; and iterations of that
_FAINT = 1e-3  # weight of an outlier, for there may be nothing else near
_WORSE = 0.05  # of the noise: where a wider kernel is worse by this, no still wider one is better
# Of normal noise on three axes: its median length, and how many times as large its third differences are.
_MEDIAN, _THIRD = 1.538, np.sqrt(20.0)


@dataclass(frozen=True)
class JitterReport:
    """What was done: jitter of rotations in radians and of places in metres on each axis, 0 for what was left alone.

    held: frames that repeat the one before, and were filled in.
    """

    turn: float = 0.0
    place: float = 0.0
    held: int = 0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return self.turn > 0.0 or self.place > 0.0

    @property
    def message(self) -> str:
        """In plain words."""
        if not self.touched:
            return "The source is steady"
        by = [f"{np.degrees(self.turn):.1f} degrees"] if self.turn else []
        by += [f"{100.0 * self.place:.1f} cm"] if self.place else []
        text = f"The source trembles by {' and '.join(by)} from frame to frame and was smoothed"
        if self.held:
            text += f"; frames that repeat the one before were filled in: {self.held}"
        return text


@dataclass(frozen=True)
class _Kind:
    """Rotations or positions: difference of two values, and a value moved by a difference (log and exp map)."""

    between: Callable[[Array, Array], Array]
    moved: Callable[[Array, Array], Array]


_TURNS = _Kind(
    lambda a, b: to_rotation_vector(multiply(conjugate(a), b)), lambda a, by: multiply(a, from_rotation_vector(by))
)
_PLACES = _Kind(lambda a, b: b - a, lambda a, by: a + by)


def filter_jitter(clip: Clip) -> tuple[Clip, JitterReport]:
    """The clip without jitter, and what was done; a clip without any comes back as it is."""
    held = _held(clip)
    if len(clip) - held.sum() < _LEAST_FRAMES:
        return clip, JitterReport()
    quat, pos = np.array(clip.local_quat_wxyz), np.array(clip.local_pos)
    turn, back = _measure_jitter(_TURNS, quat[~held])
    place, place_back = _measure_jitter(_PLACES, pos[~held])
    moving = turn > _STILL
    shakes = bool(moving.any() and np.median(turn[moving]) > _LEAST_TURN and np.median(back[moving]) < _BACK)
    jumps = (place > _LEAST_M) & (place_back < _BACK)
    most = _MOST_S * clip.fps
    if shakes:
        quat[:, moving] = _smoothed(_TURNS, fill_slerp(quat, held)[:, moving], held, turn[moving], most)
    if jumps.any():
        pos[:, jumps] = _smoothed(_PLACES, fill_linear(pos, held)[:, jumps], held, place[jumps], most)
    if not shakes and not jumps.any():
        return clip, JitterReport()
    report = JitterReport(
        float(np.median(turn[moving])) if shakes else 0.0,
        float(place[jumps].max()) if jumps.any() else 0.0,
        int(held.sum()),
    )
    return replace(clip, local_pos=pos, local_quat_wxyz=quat), report


def _held(clip: Clip) -> NDArray[np.bool_]:
    """(T,) frames in which the body is as in the frame before: a camera was late. Single bones may be repaired."""
    local = np.concatenate([clip.local_quat_wxyz, clip.local_pos], axis=-1)
    changes = np.abs(np.diff(local, axis=0)).max(axis=-1) > _SAME
    moving = changes.any(axis=0)
    return np.concatenate([[False], np.mean(changes[:, moving], axis=1) < 0.5 if moving.any() else changes.any(axis=1)])


def _measure_jitter(kind: _Kind, values: Array) -> tuple[Array, Array]:
    """Of values (T, B, ...): jitter on an axis (B,), and autocorrelation of accelerations (B,).

    A few outliers change neither.
    """
    changes = np.diff(kind.between(values[:-1], values[1:]), axis=0)
    noise = np.median(np.linalg.norm(np.diff(changes, axis=0), axis=-1), axis=0) / (_MEDIAN * _THIRD)
    limit = _WILD * np.median(np.abs(changes), axis=0)
    tame = np.clip(changes, -limit, limit)
    power = np.sum(tame**2, axis=(0, 2))
    return noise, np.sum(tame[1:] * tame[:-1], axis=(0, 2)) / np.maximum(power, 1e-30)


def _smoothed(kind: _Kind, values: Array, held: NDArray[np.bool_], noise: Array, most: float) -> Array:
    """Values (T, B, ...) without noise (B,), by local linear regression with a kernel of at most so many frames.

    Its width is chosen by Mallows' C_p: what is removed shows how much of the motion goes with the noise, and how much
    of the noise is left is known. Then outliers are left out.
    """
    weights = np.where(held[:, None], _FAINT, np.ones(values.shape[:2]))
    spreads = np.geomspace(_NARROWEST, max(most, _NARROWEST), 1 + round(6 * np.log2(max(most / _NARROWEST, 1.0))))
    best: tuple[float, float, Array, Array] | None = None
    for spread in spreads:
        smooth, own = _regress_locally(kind, values, values, weights, float(spread))
        taken = np.median(np.linalg.norm(kind.between(smooth, values)[~held], axis=-1), axis=0) / _MEDIAN
        risk = float(np.mean((taken / noise) ** 2 + 2.0 * np.mean(own[~held], axis=0)))
        if best is None or risk < best[0]:
            best = risk, float(spread), smooth, own
        elif risk > best[0] + _WORSE:
            break
    assert best is not None
    _, spread, smooth, own = best
    usual = None
    for _ in range(_ROUNDS):
        # Leave-one-out residual: the first and the last are smoothed to where they are themselves, mostly.
        away = np.linalg.norm(kind.between(smooth, values), axis=-1) / np.maximum(1.0 - own, _FAINT)
        away[weights < 1.0] = 0.0
        usual = np.median(away[~held], axis=0) if usual is None else usual
        # An outlier drags its neighbours along, so the worst go first.
        weights[(away > _WILD * usual) & (away == _highest(away, int(np.ceil(2.0 * spread))))] = _FAINT
        smooth, own = _regress_locally(kind, smooth, values, weights, spread)
    return smooth


def _highest(values: Array, reach: int) -> Array:
    """(T, B) the highest of values (T, B) within so many frames."""
    padded = np.pad(values, ((reach, reach), (0, 0)), constant_values=-np.inf)
    return np.asarray(np.max([padded[step : step + len(values)] for step in range(2 * reach + 1)], axis=0))


def _regress_locally(kind: _Kind, around: Array, values: Array, weights: Array, spread: float) -> tuple[Array, Array]:
    """Values (T, B, ...) by local linear regression, and the weight of each in its own fit (T, B): the hat diagonal.

    around: (T, B, ...) values near those, from which differences are taken. weights: (T, B). spread: frames.
    """
    count = len(values)
    frames, reach = np.arange(count), min(int(np.ceil(_REACH * spread)), count - 1)
    sums = np.zeros((3, *values.shape[:2]))  # of weights, times the way, times the way squared
    away, tilt = np.zeros((*values.shape[:2], 3)), np.zeros((*values.shape[:2], 3))
    for step in range(-reach, reach + 1):
        at = np.clip(frames + step, 0, count - 1)
        weight = weights[at] * np.exp(-0.5 * (step / spread) ** 2) * (at == frames + step)[:, None]
        sums += weight * np.array([1.0, step, step**2])[:, None, None]
        by = weight[..., None] * kind.between(around, values[at])
        away += by
        tilt += step * by
    zero, first, second = sums
    determinant = np.maximum(zero * second - first**2, 1e-30)
    by = (second[..., None] * away - first[..., None] * tilt) / determinant[..., None]
    return kind.moved(around, by), weights * second / determinant
