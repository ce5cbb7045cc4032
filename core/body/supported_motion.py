# SPDX-License-Identifier: GPL-3.0-or-later
"""Hand animated gaits of four-legged bodies made such that their feet can carry them.

Who animates a walk on the spot sees neither the sway over two legs of one side nor the fall in the air. The trunk is
moved, no further than need be, until the zero moment point of the motion is where feet stand and what flies falls; legs
follow by inverse kinematics, so that all feet stay where they are. The zero moment point is that of the linear inverted
pendulum (Kajita et al. 2003, Biped walking pattern generation by using preview control of zero-moment point).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array
from ..motion import Clip
from .clearance import keep_long_runs, link_clearances
from .four_legs import find_front_feet, flag_soles
from .hovering import centre_of_mass
from .leg_ik import find_legs, move_foot
from .model import BodyModel

_RATE = 60.0
_EARTH_M_S2 = 9.81
_DOWN = 0.02  # of the body's height: no higher than this a foot carries
_LEAST_FLIGHT_S = 0.05
# What counts, of squares: a metre away from the source, a metre of the zero moment point outside of the feet, and a
# m/s² of what flies and does not fall, and of any that is changed.
_AWAY, _OUTSIDE, _FALLS, _CHANGES = 1.0, 60.0, 0.02, 2e-4
_ROUNDS = 8
_MOST = 0.25  # of the height of the hips: no trunk is moved further
_LEAST_M = 0.005


@dataclass(frozen=True)
class SupportReport:
    """What was done: metres that the trunk was moved by, sideways and along, and up or down, at most."""

    level: float = 0.0
    upright: float = 0.0

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        return max(self.level, self.upright) > 0.0

    @property
    def message(self) -> str:
        """In plain words."""
        return (
            f"The trunk was moved by up to {100 * self.level:.0f} cm over the feet and {100 * self.upright:.0f} cm up "
            "or down, for nothing would have carried it where it was"
        )


def support_trunk(body: BodyModel, clip: Clip, gravity_m_s2: float = _EARTH_M_S2) -> tuple[Clip, SupportReport]:
    """The clip of a four-legged body with its trunk where feet carry it, and what was done.

    The clip must be on flat ground at 0 already. A two-legged body's comes back as it is.
    """
    if not len(find_front_feet(body)) or len(clip) < 4 or gravity_m_s2 <= 0.0:
        return clip, SupportReport()
    fine = clip.resample(_RATE)
    com, feet, down = centre_of_mass(body, fine), *_supports(body, fine)
    flies = keep_long_runs(~down.any(axis=1), round(_LEAST_FLIGHT_S * _RATE))
    height = float(np.median(com[:, 2]))
    shift = np.zeros_like(com)
    shift[:, :2] = _shift_over_feet(com[:, :2], feet, down, flies, height / gravity_m_s2)
    shift[:, 2] = _shift_upright(com[:, 2], flies, gravity_m_s2)
    size = np.linalg.norm(shift, axis=-1, keepdims=True)
    shift *= np.minimum(_MOST * height / np.maximum(size, 1e-9), 1.0)
    if size.max() < _LEAST_M:
        return clip, SupportReport()
    times = np.arange(len(clip)) / clip.fps
    own = np.stack([np.interp(times, np.arange(len(fine)) / _RATE, shift[:, axis]) for axis in range(3)], axis=-1)
    report = SupportReport(float(np.linalg.norm(own[:, :2], axis=-1).max()), float(np.abs(own[:, 2]).max()))
    return _move_trunk(body, clip, own), report


def _move_trunk(body: BodyModel, clip: Clip, shift: Array) -> Clip:
    """The clip with its roots moved by (T, 3) metres and all feet left in place, as far as legs reach."""
    feet = clip.world()[0]
    moved = np.array(clip.local_pos)
    moved[:, np.flatnonzero(clip.skeleton.parents < 0)] += shift[:, None]
    result = replace(clip, local_pos=moved)
    for leg in find_legs(body, clip.skeleton):
        result = move_foot(result, leg, feet[:, leg.foot])
    return result


def _supports(body: BodyModel, clip: Clip) -> tuple[Array, NDArray[np.bool_]]:
    """Where feet are over the ground, (T, F, 2) metres, and whether they are down, (T, F)."""
    soles = np.flatnonzero(flag_soles(body))
    pos, _ = clip.world()
    heads, _ = clip.skeleton.rest_world()
    tall = float(np.ptp([heads[clip.skeleton.index(link.bone), 2] for link in body.links]))
    places = pos[:, [clip.skeleton.index(body.links[sole].bone) for sole in soles], :2]
    return places, link_clearances(body, clip)[:, soles] < _DOWN * tall


def _shift_over_feet(
    com: Array, feet: Array, down: NDArray[np.bool_], flies: NDArray[np.bool_], per_s2: float
) -> Array:
    """(T, 2) metres that bring the zero moment point of a centre of mass (T, 2) over the feet (T, F, 2) that are down.

    per_s2: s², by which an acceleration moves that point. In flight the pace stays as it is.
    """
    second = _second_difference(len(com))
    zero_moment = _identity(len(com)) - per_s2 * second
    weights = np.where(down.any(axis=1), _OUTSIDE, 0.0)
    free = np.where(flies, _FALLS, 0.0)
    solve = _factorize(second, free, zero_moment.T @ _diagonal(weights) @ zero_moment)
    shift, begun = np.zeros_like(com), zero_moment @ com
    for _ in range(_ROUNDS):
        now = zero_moment @ (com + shift)
        goal = np.array([_nearest(p, f[d]) if d.any() else p for p, f, d in zip(now, feet, down, strict=True)])
        line = zero_moment.T @ (weights[:, None] * (goal - begun)) - second.T @ (free[:, None] * (second @ com))
        shift = np.stack([solve(line[:, axis]) for axis in (0, 1)], axis=-1)
    return shift


def _shift_upright(height: Array, flies: NDArray[np.bool_], gravity_m_s2: float) -> Array:
    """(T,) metres that let a centre of mass at heights (T,) fall where it flies."""
    if not flies.any():
        return np.zeros_like(height)
    second, free = _second_difference(len(height)), np.where(flies, _FALLS, 0.0)
    return np.asarray(_factorize(second, free)(-second.T @ (free * (second @ height + gravity_m_s2))))


def _factorize(second: Any, free: Array, more: Any = 0.0) -> Callable[[Array], Array]:
    """What solves for a shift that is as small and even as can be, given what else counts; free: (T,) in flight."""
    from scipy.sparse.linalg import factorized

    square = _AWAY * _identity(len(free)) + second.T @ _diagonal(_CHANGES + free) @ second
    return cast(Callable[[Array], Array], factorized((square + more if not np.isscalar(more) else square).tocsc()))


def _second_difference(count: int) -> Any:
    """(count, count) sparse: accelerations of places at ``_RATE``; none at the two ends."""
    inner = np.zeros(count)
    inner[1:-1] = _RATE**2
    from scipy.sparse import diags

    return diags([inner[1:], -2.0 * inner, inner[:-1]], [-1, 0, 1])


def _identity(count: int) -> Any:
    return _diagonal(np.ones(count))


def _diagonal(values: Array) -> Any:
    from scipy.sparse import diags  # Blender's Python lacks it

    return diags([values], [0])


def _nearest(point: Array, feet: Array) -> Array:
    """(2,) the nearest to a point (2,) of all places between the feet (F, 2)."""
    for triangle in combinations(feet, 3):
        crossed = [_cross(b - a, point - a) for a, b in zip(triangle, (*triangle[1:], triangle[0]), strict=True)]
        if min(crossed) >= 0.0 or max(crossed) <= 0.0:
            return point
    best = feet[int(np.argmin(np.linalg.norm(feet - point, axis=-1)))]
    for a, b in combinations(feet, 2):
        along = float(np.clip((point - a) @ (b - a) / max(float((b - a) @ (b - a)), 1e-12), 0.0, 1.0))
        on = a + along * (b - a)
        best = on if np.linalg.norm(on - point) < np.linalg.norm(best - point) else best
    return np.asarray(best)


def _cross(a: Array, b: Array) -> float:
    return float(a[0] * b[1] - a[1] * b[0])
