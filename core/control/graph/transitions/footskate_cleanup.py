# SPDX-License-Identifier: GPL-3.0-or-later
"""Clean-up of blended motions: feet out of the floor, by bending the legs, and no footskate, by moving the root.

Lifting the whole body would leave it hovering.
"""

from dataclasses import replace

import numpy as np

from ....body.clearance import SOFT_M, upper_envelope
from ....body.four_legs import SOLES
from ....body.leg_ik import Leg, find_legs, solve_leg_ik
from ....body.model import BodyModel
from ....body.poses import clip_of_pose, link_transforms, pose_of_clip
from ....body.stances import lowest_points
from ....geometry.differences import velocity
from ....geometry.quaternions import Array, rotate
from ....motion import Clip
from ...tracking.reference import CONTROL_FPS

# Seconds in which legs come to be bent, and the root to move with the feet.
_REACH_S, _SLOWS_S = 0.08, 0.1
# A foot stands that is about as low and as slow as this; if all feet together stand less than this, the body flies.
_STANDS_M, _STANDS_M_S, _FLIES = 0.02, 0.5, 0.1
_ROUNDS = 2  # a toe turns with its foot only nearly as predicted


def link_heights(body: BodyModel, qpos: Array) -> Array:
    """(T, L) metres from z = 0 up to the lowest point of each link in poses (T, nq)."""
    pos, quat = link_transforms(body, qpos)
    heights = [
        (pos[:, None, i] + rotate(quat[:, None, i], lowest_points(link, quat[:, i])))[..., 2].min(axis=1)
        for i, link in enumerate(body.links)
    ]
    return np.stack(heights, axis=1)


def clear_floor(body: BodyModel, eased: Array, target: Array) -> Array:
    """(T, nq) poses whose feet are hardly deeper in the floor than the target's or, while it fades, the first pose's.

    The first pose and the last stay as they are, and so do the velocities there.
    """
    legs = [leg for leg in find_legs(body, body.skeleton) if body.links[leg.links[0]].role in SOLES]
    fade = np.linspace(1.0, 0.0, len(eased))[:, None] ** 2
    allowed = np.minimum(link_heights(body, target), 0.0)
    allowed = np.minimum(allowed, fade * np.minimum(link_heights(body, eased[:1]), 0.0))
    found = eased
    for _ in range(_ROUNDS):
        missing = np.maximum(allowed - SOFT_M - link_heights(body, found), 0.0)
        raises = [missing[:, list(leg.links)].max(axis=1) for leg in legs]
        if not any(raise_m.any() for raise_m in raises):
            break
        found = _lift_feet(body, found, legs, [_smooth_lift(raise_m) for raise_m in raises])
    return found


def remove_footskate(body: BodyModel, eased: Array, target: Array) -> Array:
    """(T, nq) poses whose root moves over the floor as feet that stand let it, ending where the target (T, nq) does."""
    feet = [i for i, link in enumerate(body.links) if link.role == "foot"]
    if not feet:
        return eased
    own, meant = (link_transforms(body, qpos)[0][:, feet] for qpos in (eased, target))
    speed, meant_speed = (velocity(pos, 1.0 / CONTROL_FPS)[..., :2] for pos in (own, meant))
    height = np.maximum(np.maximum(link_heights(body, eased), link_heights(body, target))[:, feet], 0.0)
    stands = np.exp(-height / _STANDS_M - np.sum(meant_speed**2, axis=-1) / _STANDS_M_S**2)[..., None]
    slide = np.sum(stands * (speed - meant_speed), axis=1) / (np.sum(stands, axis=1) + _FLIES)
    # At both ends the root is as fast as it was to be.
    slide = slide * _fade_at_ends(len(eased), _SLOWS_S)[:, None]
    shift = np.cumsum(slide, axis=0) / CONTROL_FPS
    found = np.array(eased)
    found[:, :2] += shift[-1] - shift
    return found


def _fade_at_ends(count: int, reach_s: float) -> Array:
    """(count,) one, but nothing at both ends, with smooth ways of so many seconds between."""
    width = min(round(reach_s * CONTROL_FPS), (count - 1) // 2)
    edge = np.minimum(np.minimum(np.arange(count), np.arange(count)[::-1]) / max(width, 1), 1.0)
    return np.asarray(edge**2 * (3.0 - 2.0 * edge))


def _smooth_lift(need: Array) -> Array:
    """(T,) a smooth curve over ``need`` (T,) that begins and ends with nothing."""
    return np.asarray(upper_envelope(need, CONTROL_FPS, _REACH_S) * _fade_at_ends(len(need), _REACH_S))


def _lift_feet(body: BodyModel, qpos: Array, legs: list[Leg], raises: list[Array]) -> Array:
    """Poses (T, nq) whose feet are higher by metres (T,), leg by leg."""
    skeleton = body.skeleton
    rest_pos, rest_quat = (np.tile(rest, (len(qpos), 1, 1)) for rest in (skeleton.rest_pos, skeleton.rest_quat_wxyz))
    still = Clip(skeleton, CONTROL_FPS, rest_pos, rest_quat)
    clip = clip_of_pose(body, still, qpos, CONTROL_FPS, offsets="body")
    pos, _ = clip.world()
    for leg, raise_m in zip(legs, raises, strict=True):
        goal = pos[:, leg.foot] + raise_m[:, None] * [0.0, 0.0, 1.0]
        clip = replace(clip, local_quat_wxyz=solve_leg_ik(clip, leg, goal))
    bent = pose_of_clip(body, clip)[0]
    found = np.array(qpos)
    for leg, raise_m in zip(legs, raises, strict=True):
        names = {skeleton.names[bone] for bone in (leg.hip, leg.knee, leg.foot)}
        for index in (i for i, link in enumerate(body.links) if link.bone in names):
            own = slice(body.qpos_starts[index], body.qpos_starts[index + 1])
            some = raise_m > 0.0  # the others stay to the bit
            found[some, own] = _match_quaternion_sign(bent[some, own], qpos[some, own])
    return found


def _match_quaternion_sign(own: Array, like: Array) -> Array:
    """(T, 4) rotations with the signs that they had; (T, 1) angles as they are."""
    if own.shape[1] != 4:
        return own
    return np.where(np.sum(own * like, axis=1, keepdims=True) < 0.0, -own, own)
