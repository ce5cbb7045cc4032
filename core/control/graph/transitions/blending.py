# SPDX-License-Identifier: GPL-3.0-or-later
"""Transitions by inertialisation: the target's motion, with the offset to the source decaying (control graphs, 5.4)."""

import numpy as np

from ....body.model import BodyModel, Joint
from ....body.pose_space import PoseSpace
from ....errors import GraphError
from ....geometry.quaternions import Array
from ...tracking.facing import rotate_pose_about_z
from ...tracking.reference import CONTROL_FPS
from .distances import VELOCITY_S, link_centres, point_weights
from .footskate_cleanup import clear_floor, remove_footskate

LEAST_FRAGMENTS, MOST_FRAGMENTS = 3, 8
# Metres: distances that take the least time to blend, and the most.
_NEAR_M, _FAR_M = 0.1, 0.35
# Seconds in which a difference of velocities decays; its overshoot is a seventh of what it comes to in this time.
_RATES_S = 0.2
# Shares of a blend's time in which a hinge's offset may have to decay, and tolerance of its limits in radians.
_HINGE_SHARES = (1.0, 0.8, 0.6, 0.45, 0.3)
_LIMIT_TOLERANCE = 0.02
_STEP_S = 1e-3


def count_blend_fragments(distance: float, room: int = MOST_FRAGMENTS) -> int:
    """How many fragments a transition takes: 3 to 8, more for a greater distance, if there is room for them."""
    if not (np.isfinite(distance) and distance >= 0.0):
        raise GraphError(f"A transition's distance is {distance} m", "Give the distance between its two moments")
    if room < 1:
        raise GraphError("There is no room for a transition before the target ends", "Enter the target earlier")
    share = np.clip((distance - _NEAR_M) / (_FAR_M - _NEAR_M), 0.0, 1.0)
    return min(LEAST_FRAGMENTS + round(float(share) * (MOST_FRAGMENTS - LEAST_FRAGMENTS)), room)


def blend_transition(
    space: PoseSpace, body: BodyModel, target_qpos: Array, target_rates: Array, from_qpos: Array, from_rates: Array
) -> Array:
    """(T, nq) poses of a transition, from the source's pose, aligned to the target, to the target's.

    target_qpos: (T, nq), target_rates: (T, nv), the target at ``CONTROL_FPS`` from where it is entered on.
    from_qpos: (nq,), from_rates: (nv,), where the source is left. Poses and velocities are continuous at both ends.
    """
    _check(body, target_qpos, target_rates, from_qpos, from_rates)
    lasts_s = (len(target_qpos) - 1) / CONTROL_FPS
    from_qpos, from_rates = align_pose(body, from_qpos, from_rates, target_qpos[0], target_rates[0], lasts_s)
    gap = space.difference(target_qpos[0], from_qpos)
    # The rate of the offset itself. Of rotations that is not the difference of their rates.
    after = space.difference(
        space.integrate(target_qpos[0], _STEP_S * target_rates[0]), space.integrate(from_qpos, _STEP_S * from_rates)
    )
    before = space.difference(
        space.integrate(target_qpos[0], -_STEP_S * target_rates[0]), space.integrate(from_qpos, -_STEP_S * from_rates)
    )
    change = (after - before) / (2.0 * _STEP_S)
    fade = _decay_offset(gap, change, lasts_s)
    fade[:, :2] = _decay_offset(gap, change, lasts_s, rates_s=lasts_s)[:, :2]
    for index, link in enumerate(body.links):
        if link.joint.kind == "hinge":
            place = body.qvel_starts[index]
            angles = target_qpos[:, body.qpos_starts[index]]
            fade[:, place] = _decay_hinge_offset(link.joint, angles, gap[place], change[place], lasts_s)
    eased = clear_floor(body, space.integrate(target_qpos, fade), target_qpos)
    return remove_footskate(body, eased, target_qpos)


def _decay_offset(
    gap: Array, change: Array, lasts_s: float, fades_s: float | None = None, rates_s: float = _RATES_S
) -> Array:
    """(T, ...) a difference ``gap`` (...) that changes by ``change`` (...) a second at first, and is gone at the end.

    fades_s: seconds after which it is gone, if that is sooner. rates_s: seconds after which the change has no more part
    in it: over a long time it would swing out far.
    """
    times_s = np.arange(round(lasts_s * CONTROL_FPS) + 1).reshape(-1, *(1,) * np.ndim(gap)) / CONTROL_FPS
    fades_s = lasts_s if fades_s is None else fades_s
    share, swing = (np.minimum(times_s / one_s, 1.0) for one_s in (fades_s, min(rates_s, fades_s)))
    return np.asarray((1.0 - share) ** 2 * (1.0 + 2.0 * share) * gap + (1.0 - swing) ** 2 * times_s * change)


def _decay_hinge_offset(joint: Joint, angles: Array, gap: float, change: float, lasts_s: float) -> Array:
    """(T,) the fading difference of a hinge: gone at the end, or sooner where it would bend the wrong way.

    angles: (T,) radians, the target's. A knee that is bent far now and soon straight leaves no room for the difference
    to one that is straight now.
    """
    lower = min(joint.lower, float(angles.min()), angles[0] + gap)
    upper = max(joint.upper, float(angles.max()), angles[0] + gap)
    tried = [_decay_offset(np.array(gap), np.array(change), lasts_s, share * lasts_s) for share in _HINGE_SHARES]
    beyond = [float(np.maximum(lower - angles - one, angles + one - upper).max()) for one in tried]
    return next(
        (one for one, by in zip(tried, beyond, strict=True) if by < _LIMIT_TOLERANCE), tried[int(np.argmin(beyond))]
    )


def align_pose(
    body: BodyModel, qpos: Array, rates: Array, onto_qpos: Array, onto_rates: Array, fades_s: float = 0.0
) -> tuple[Array, Array]:
    """A moment (nq,), (nv,) turned about the vertical and moved over the floor to where it fits another one best.

    fades_s: seconds over which the difference is to fade away. The root is then put as far behind the other one, or
    ahead of it, as it falls back until both are equally fast: no faster than either to catch up.
    """
    weight = point_weights(body)[:, None]
    (pos, vel), (onto_pos, onto_vel) = (
        _point_cloud(body, *one, weight) for one in ((qpos, rates), (onto_qpos, onto_rates))
    )
    across = _cross(pos, onto_pos, weight) + VELOCITY_S**2 * _cross(vel, onto_vel, weight)
    along = _dot(pos, onto_pos, weight) + VELOCITY_S**2 * _dot(vel, onto_vel, weight)
    qpos, rates = rotate_pose_about_z(np.arctan2(across, along), qpos, rates)
    qpos[:2] = onto_qpos[:2] - (rates[:2] - onto_rates[:2]) * fades_s / 3.0
    return qpos, rates


def _point_cloud(body: BodyModel, qpos: Array, rates: Array, weight: Array) -> tuple[Array, Array]:
    """The links' centres (L, 3) about their middle and their velocities (L, 3)."""
    space = PoseSpace(body)
    both = space.integrate(qpos, _STEP_S * np.stack([-rates, rates]))
    before, after = link_centres(body, both)
    middle = 0.5 * (before + after)
    return middle - np.sum(weight * middle, axis=0), (after - before) / (2.0 * _STEP_S)


def _cross(one: Array, other: Array, weight: Array) -> float:
    return float(np.sum(weight[:, 0] * (one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])))


def _dot(one: Array, other: Array, weight: Array) -> float:
    return float(np.sum(weight * one[:, :2] * other[:, :2]))


def _check(body: BodyModel, target_qpos: Array, target_rates: Array, from_qpos: Array, from_rates: Array) -> None:
    wanted = (len(target_qpos), body.nq), (len(target_qpos), body.nv), (body.nq,), (body.nv,)
    given = tuple(np.shape(array) for array in (target_qpos, target_rates, from_qpos, from_rates))
    if given != wanted:
        raise GraphError(f"A transition's moments have the shapes {given}, not {wanted}", "Give poses of this body")
    if len(target_qpos) < 3:
        raise GraphError(
            f"A transition of {len(target_qpos)} moments has nothing between its ends", "Give more of them"
        )
