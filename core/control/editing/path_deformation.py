# SPDX-License-Identifier: GPL-3.0-or-later
"""Laplacian deformation of a path on the ground: it goes through wanted places, facing wanted ways, in its own shape.

Every step of the path may be turned and scaled (a similarity, which leaves its shape alone), and at a price of its own
shifted. What is kept is how these change from frame to frame, which is the similarity-invariant Laplacian of the curve,
by a stiffness for each frame. Places and headings that are wanted are met exactly.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array

# What costs as much as each other: turning at so many radians a second, scaling by a factor of e to the so much, and
# shifting at so many metres a second. Shifting is cheaper for who stands than for who goes at a metre a second and
# more: whoever walks rather bends the path than goes sideways.
_TURN_RAD_S, _SCALE, _SHIFT_M_S, _GOES_M_S = 0.7, 0.25, (0.4, 0.12), 1.0
_EASE_S = 0.3  # over which each of them changes
_ROUNDS, _SETTLED = 40, 1e-7
_FAR_M = 0.3  # a shorter way says nothing of its direction


@dataclass(frozen=True, eq=False)
class PathDeformation:
    """place: (T, 2) metres. turn: (T,) radians that each frame is turned by, scale: (T,) of the steps.

    shift_m_s: (T - 1,) how fast the path goes besides what it did, turned and scaled.
    """

    place: Array
    turn: Array
    scale: Array
    shift_m_s: Array


def deform_path(
    source: Array, fps: float, stiffness: Array, places: Mapping[int, Array], turns: Mapping[int, float]
) -> PathDeformation:
    """The path (T, 2) in metres deformed so that it is at ``places`` by frame, and turned by ``turns`` by frame.

    stiffness: (T,) how much each frame resists deformation. Where no place or no turn is wanted at all, it is moved as
    a whole no more than it has to be.
    """
    count = len(source)
    places = dict(places) or {0: source[0]}
    begin = _first_guess(source, places, turns)
    if count < 3:
        shift = np.zeros(max(count - 1, 0))
        return PathDeformation(begin.place, begin.turn, np.ones(count), shift)
    unknown, fixed = _Unknowns.of(count, places, turns), _start_values(begin, places, turns)
    solved = _solve(source, fps, stiffness, fixed, unknown)
    place, turn, scale = solved[: 2 * count].reshape(2, count).T, solved[2 * count : 3 * count], solved[3 * count :]
    drift = _shifts(np.diff(source, axis=0), place, turn, scale) * fps
    return PathDeformation(place, turn, np.exp(scale), np.linalg.norm(drift, axis=-1))


@dataclass(frozen=True, eq=False)
class _Unknowns:
    """free: (4T,) which of x, y, turn and scale of all frames are to be found."""

    free: NDArray[np.int64]

    @classmethod
    def of(cls, count: int, places: Mapping[int, Array], turns: Mapping[int, float]) -> "_Unknowns":
        free = np.ones(4 * count, dtype=bool)
        for frame in places:
            free[[frame, count + frame]] = False
        for frame in turns:
            free[2 * count + frame] = False
        return cls(np.flatnonzero(free))


def _first_guess(source: Array, places: Mapping[int, Array], turns: Mapping[int, float]) -> PathDeformation:
    """A path to begin with: turned evenly between what is wanted, so that also half a turn has a side to go to."""
    count, frames = len(source), sorted(places)
    known = dict(turns)
    for first, last in itertools.pairwise(frames):
        before, after = source[last] - source[first], places[last] - places[first]
        if last not in known and min(np.linalg.norm(before), np.linalg.norm(after)) > _FAR_M:
            # Also what is straight ahead or behind: exactly so there would be no side to go to.
            angle = float(np.angle(complex(*after) / complex(*before) * np.exp(1e-3j)))
            known[last] = (
                angle if first not in turns else turns[first] + float(np.angle(np.exp(1j * (angle - turns[first]))))
            )
    at = np.array(sorted(known))
    turn = np.interp(np.arange(count), at, np.array([known[frame] for frame in at])) if len(at) else np.zeros(count)
    shift = np.array([places[frame] - source[frame] for frame in frames])
    place = source + np.stack([np.interp(np.arange(count), frames, shift[:, axis]) for axis in (0, 1)], axis=-1)
    return PathDeformation(place, turn, np.zeros(count), np.zeros(count - 1))


def _start_values(begin: PathDeformation, places: Mapping[int, Array], turns: Mapping[int, float]) -> Array:
    values = np.concatenate([begin.place[:, 0], begin.place[:, 1], begin.turn, begin.scale])
    count = len(begin.turn)
    for frame, place in places.items():
        values[[frame, count + frame]] = place
    for frame, turn in turns.items():
        values[2 * count + frame] = turn
    return values


def _shifts(steps: Array, place: Array, turn: Array, scale: Array) -> Array:
    """(T - 1, 2) metres: what each step of a path is besides the source's, turned and scaled."""
    whole = _similar(steps, turn, scale)
    return np.asarray(np.diff(place, axis=0) - np.stack([whole.real, whole.imag], axis=-1))


def _similar(steps: Array, turn: Array, scale: Array) -> "np.ndarray[tuple[int], np.dtype[np.complex128]]":
    """(T - 1,) steps as complex numbers, turned and scaled by the mean of the frames at their ends."""
    middle = 0.5 * (scale[1:] + scale[:-1]) + 0.5j * (turn[1:] + turn[:-1])
    return np.asarray(np.exp(middle) * (steps[:, 0] + 1j * steps[:, 1]))


def _solve(source: Array, fps: float, stiffness: Array, values: Array, unknown: _Unknowns) -> Array:
    """(4T,) x, y, turn and log of scale of all frames: Gauss-Newton, damped, on sparse normal equations."""
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    steps, free = np.diff(source, axis=0), unknown.free
    energy = _Energy(steps, fps, stiffness)
    residual = energy.residuals(values)
    cost, damping = float(residual @ residual), 1e-6
    for _ in range(_ROUNDS):
        jacobian = energy.jacobian(values)[:, free]
        normal, slope = (jacobian.T @ jacobian).tocsc(), jacobian.T @ residual
        for _ in range(12):
            damped = normal + damping * sparse.diags_array(normal.diagonal() + 1e-12)
            trial = values.copy()
            trial[free] -= spsolve(damped.tocsc(), slope)
            tried = energy.residuals(trial)
            better = float(tried @ tried)
            if np.isfinite(better) and better <= cost:
                break
            damping = max(damping, 1e-6) * 10.0
        else:
            break
        gained, values, residual, cost = cost - better, trial, tried, better
        damping = max(damping * 0.1, 1e-12)
        if gained <= _SETTLED * max(cost, 1e-9):
            break
    return values


class _Energy:
    """What a deformation costs, as residuals whose squares are summed, and their derivatives."""

    def __init__(self, steps: Array, fps: float, stiffness: Array) -> None:
        from scipy import sparse

        self._steps, self._count, dt = steps, len(steps) + 1, 1.0 / fps
        count, ease = self._count, _EASE_S * fps
        each, between = np.sqrt(dt * stiffness), np.sqrt(dt * 0.5 * (stiffness[1:] + stiffness[:-1]))
        slope = sparse.diags_array([-np.ones(count - 1), np.ones(count - 1)], offsets=[0, 1], shape=(count - 1, count))
        curve = sparse.diags_array(
            [np.ones(count - 2), -2.0 * np.ones(count - 2), np.ones(count - 2)],
            offsets=[0, 1, 2],
            shape=(count - 2, count),
        )
        inner = sparse.diags_array(
            [-np.ones(count - 2), np.ones(count - 2)], offsets=[0, 1], shape=(count - 2, count - 1)
        )
        self._slope = slope
        rate = fps / _TURN_RAD_S
        self._turn = sparse.vstack(
            [sparse.diags_array(rate * between) @ slope, sparse.diags_array(rate * ease * each[1:-1]) @ curve]
        ).tocsr()
        self._scale = sparse.vstack(
            [sparse.diags_array(each / _SCALE), sparse.diags_array(ease * between / _SCALE) @ slope]
        ).tocsr()
        goes_m_s = float(np.linalg.norm(steps, axis=-1).mean()) * fps
        speed = fps / float(np.interp(goes_m_s, (0.0, _GOES_M_S), _SHIFT_M_S))
        self._shift = sparse.vstack(
            [sparse.diags_array(speed * between), sparse.diags_array(speed * ease * each[1:-1]) @ inner]
        ).tocsr()

    def _parts(self, values: Array) -> tuple[Array, Array, Array]:
        count = self._count
        return values[: 2 * count].reshape(2, count).T, values[2 * count : 3 * count], values[3 * count :]

    def residuals(self, values: Array) -> Array:
        """Of shifting along x and y, of turning, and of scaling."""
        place, turn, scale = self._parts(values)
        shift = _shifts(self._steps, place, turn, scale)
        return np.concatenate(
            [self._shift @ shift[:, 0], self._shift @ shift[:, 1], self._turn @ turn, self._scale @ scale]
        )

    def jacobian(self, values: Array):  # type: ignore[no-untyped-def]  # scipy is not imported here
        """Derivatives of the residuals by all values, sparse."""
        from scipy import sparse

        _, turn, scale = self._parts(values)
        whole = _similar(self._steps, turn, scale)
        mean = 0.5 * np.abs(self._slope)
        by_turn = [sparse.diags_array(-part) @ mean for part in (-whole.imag, whole.real)]
        by_scale = [sparse.diags_array(-part) @ mean for part in (whole.real, whole.imag)]
        step = self._shift @ self._slope
        return sparse.block_array(
            [
                [step, None, self._shift @ by_turn[0], self._shift @ by_scale[0]],
                [None, step, self._shift @ by_turn[1], self._shift @ by_scale[1]],
                [None, None, self._turn, None],
                [None, None, None, self._scale],
            ],
            format="csr",
        )
