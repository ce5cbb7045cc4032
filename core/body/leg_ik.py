# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone inverse kinematics of legs: hip and knee turn, the foot keeps its rotation in the world."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip, Skeleton
from ..motion.skeleton import to_world
from .model import BodyModel, Link

LIMBS = (("thigh", "shin", "foot", ("foot", "toe")), ("upper_arm", "forearm", "hand", ("hand",)))
_STRAIGHT = 0.998  # of a leg's length: the furthest reach without stretching


@dataclass(frozen=True, eq=False)
class Leg:
    """Bones from hip to foot by index, and the links that stand.

    axis: (3,) the knee's axis in the lower bone's own frame, pointing so that bending turns by positive angles.
    """

    hip: int
    knee: int
    foot: int
    links: tuple[int, ...]
    axis: Array


def find_legs(body: BodyModel, skeleton: Skeleton) -> tuple[Leg, ...]:
    """The limbs that could be stood on: legs, and arms for crawls and cartwheels."""
    found = []
    for upper, lower, end, standing in LIMBS:
        for side in ("L", "R"):
            parts = [_link(body, role, side) for role in (upper, lower, end)]
            if None in parts:
                continue
            hip, knee, foot = (skeleton.index(link.bone) for link in parts if link is not None)
            if not (_is_below(skeleton, knee, hip) and _is_below(skeleton, foot, knee)):
                continue  # a control rig whose feet hang on nothing
            links = tuple(i for i, link in enumerate(body.links) if link.role in standing and link.side == side)
            joint = parts[1].joint if parts[1] is not None else None
            axis = np.array([1.0, 0.0, 0.0]) if joint is None else np.array(joint.axis)
            if joint is not None and joint.kind == "hinge" and -joint.lower > joint.upper:
                axis = -axis
            found.append(Leg(hip, knee, foot, links, axis))
    return tuple(found)


def _link(body: BodyModel, role: str, side: str) -> Link | None:
    return next((link for link in body.links if link.role == role and link.side == side), None)


def _is_below(skeleton: Skeleton, bone: int, above: int) -> bool:
    while bone >= 0 and bone != above:
        bone = int(skeleton.parents[bone])
    return bone == above


def reach_shortfall(pos: Array, before: Array, leg: Leg, goal: Array) -> Array:
    """(T,) metres by which the hip is too high for the foot to be at ``goal`` (T, 3); 0 where it reaches.

    pos: (T, B, 3) the bones' heads. before: (T, B, 3) as they were captured: a reach of the capture is allowed.
    """
    length = _longest(before, leg)
    away = goal - pos[:, leg.hip]
    deepest = np.sqrt(np.maximum(length**2 - np.sum(away[:, :2] ** 2, -1), 0.0))
    return np.maximum(-away[:, 2] - deepest, 0.0)


def _longest(pos: Array, leg: Leg) -> Array:
    """(T,) metres from hip to foot: nearly the whole leg, or more where it is straight already."""
    now = np.linalg.norm(pos[:, leg.foot] - pos[:, leg.hip], axis=-1)
    return np.maximum(_STRAIGHT * _lengths(pos, leg).sum(0), now)


def _lengths(pos: Array, leg: Leg) -> Array:
    """(2, T) metres: upper and lower leg."""
    return np.linalg.norm(pos[:, [leg.knee, leg.foot]] - pos[:, [leg.hip, leg.knee]], axis=-1).T


def solve_leg_ik(clip: Clip, leg: Leg, goal: Array) -> Array:
    """(T, B, 4) local rotations with which the foot's head is at ``goal`` (T, 3), or as near as the leg is long."""
    parents, local = clip.skeleton.parents, np.array(clip.local_quat_wxyz)
    before, first = clip.world()
    longest = _longest(before, leg)
    for _ in range(2):  # a knee whose axis is not square to the leg's plane needs a second iteration
        pos, quat = to_world(parents, clip.local_pos, local)
        bend, turn = _bend(pos, quat, leg, goal, longest)
        local[:, leg.hip] = multiply(_inverse_of_parent(parents, leg.hip, quat), multiply(turn, quat[:, leg.hip]))
        local[:, leg.knee] = multiply(_inverse_of_parent(parents, leg.knee, quat), multiply(bend, quat[:, leg.knee]))
        above = multiply(turn, multiply(bend, quat[:, parents[leg.foot]]))
        local[:, leg.foot] = multiply(conjugate(above), first[:, leg.foot])
    there = np.linalg.norm(goal - before[:, leg.foot], axis=-1) < 1e-9
    return np.where(there[:, None, None], clip.local_quat_wxyz, local)


def _inverse_of_parent(parents: NDArray[np.int64], bone: int, quat: Array) -> Array:
    if parents[bone] < 0:
        return np.broadcast_to([1.0, 0.0, 0.0, 0.0], quat[:, bone].shape)
    return conjugate(quat[:, parents[bone]])


def _bend(pos: Array, quat: Array, leg: Leg, goal: Array, longest: Array) -> tuple[Array, Array]:
    """(T, 4) each, in the world: what the knee bends by, and then the whole leg at the hip."""
    upper, lower = _lengths(pos, leg)
    thigh, shin = pos[:, leg.knee] - pos[:, leg.hip], pos[:, leg.foot] - pos[:, leg.knee]
    along = thigh / upper[:, None]
    axis = rotate(quat[:, leg.knee], np.broadcast_to(leg.axis, thigh.shape))
    axis = axis - np.sum(axis * along, -1, keepdims=True) * along
    axis /= np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-9)
    now = np.arctan2(np.sum(np.cross(thigh, shin) * axis, -1), np.sum(thigh * shin, -1))
    far = np.linalg.norm(goal - pos[:, leg.hip], axis=-1)
    far = np.clip(far, np.abs(upper - lower) + 1e-6, longest)
    wanted = np.arccos(np.clip((far**2 - upper**2 - lower**2) / (2.0 * upper * lower), -1.0, 1.0))
    bend = from_rotation_vector(axis * (wanted - now)[:, None])
    reached = thigh + rotate(bend, shin)
    return bend, _between(reached, goal - pos[:, leg.hip])


def _between(a: Array, b: Array) -> Array:
    """(T, 4) the shortest turn from directions ``a`` (T, 3) to ``b`` (T, 3)."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    axis = np.cross(a, b)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = np.arctan2(sine[:, 0], np.sum(a * b, -1))
    return from_rotation_vector(axis / np.maximum(sine, 1e-12) * angle[:, None])
