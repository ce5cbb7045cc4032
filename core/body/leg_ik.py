# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone inverse kinematics of legs: hip and knee turn, the foot keeps its rotation in the world."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip, Skeleton
from ..motion.skeleton import to_world
from .four_legs import find_front_feet
from .model import BodyModel, Link

LIMBS = (("thigh", "shin", "foot", ("foot", "toe")), ("upper_arm", "forearm", "hand", ("hand",)))
STRAIGHT = 0.998
"""Of a leg's length: the furthest reach without stretching."""


@dataclass(frozen=True, eq=False)
class Leg:
    """Bones from hip to foot by index, and the links that stand.

    axis: (3,) the knee's axis in the lower bone's own frame, pointing so that bending turns by positive angles.
    detached: whether the foot's bone does not hang on the lower leg's, as a control does, and has to be moved along.
    """

    hip: int
    knee: int
    foot: int
    links: tuple[int, ...]
    axis: Array
    detached: bool = False


def find_legs(body: BodyModel, skeleton: Skeleton) -> tuple[Leg, ...]:
    """The limbs that could be stood on: legs, and arms for crawls and cartwheels."""
    found = []
    four_legged = len(find_front_feet(body)) > 0
    for upper, lower, end, standing in LIMBS:
        for side in ("L", "R"):
            parts = [_link(body, role, side) for role in (upper, lower, end)]
            if None in parts:
                continue
            hip, knee, foot = (skeleton.index(link.bone) for link in parts if link is not None)
            detached = not _is_below(skeleton, foot, knee)
            # A control rig whose feet hang on nothing: sources of four-legged bodies have them in place all the same.
            if not _is_below(skeleton, knee, hip) or (detached and not four_legged):
                continue
            links = tuple(i for i, link in enumerate(body.links) if link.role in standing and link.side == side)
            joint = parts[1].joint if parts[1] is not None else None
            axis = np.array([1.0, 0.0, 0.0]) if joint is None else np.array(joint.axis)
            if joint is not None and joint.kind == "hinge" and -joint.lower > joint.upper:
                axis = -axis
            found.append(Leg(hip, knee, foot, links, axis, detached))
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
    return np.maximum(STRAIGHT * _lengths(pos, leg).sum(0), now)


def _lengths(pos: Array, leg: Leg) -> Array:
    """(2, T) metres: upper and lower leg."""
    return np.linalg.norm(pos[:, [leg.knee, leg.foot]] - pos[:, [leg.hip, leg.knee]], axis=-1).T


def move_foot(clip: Clip, leg: Leg, goal: Array) -> Clip:
    """The clip with the foot's head at ``goal`` (T, 3), or as near as the leg is long; the foot keeps its rotation."""
    if not leg.detached:
        return replace(clip, local_quat_wxyz=solve_leg_ik(clip, leg, goal))
    parents, local, place = clip.skeleton.parents, np.array(clip.local_quat_wxyz), np.array(clip.local_pos)
    pos, quat = clip.world()
    ways = ((leg.hip, leg.knee), (leg.knee, leg.foot))
    vectors = [np.median(rotate(conjugate(quat[:, a]), pos[:, b] - pos[:, a]), axis=0) for a, b in ways]
    upper, lower = bend_limb(
        quat[:, leg.hip], quat[:, leg.knee], (vectors[0], vectors[1]), leg.axis, goal - pos[:, leg.hip]
    )
    local[:, leg.hip] = multiply(_inverse_of_parent(parents, leg.hip, quat), upper)
    turned = to_world(parents, place, local)[1]
    local[:, leg.knee] = multiply(_inverse_of_parent(parents, leg.knee, turned), lower)
    at, turned = to_world(parents, place, local)
    reached = at[:, leg.knee] + rotate(lower, np.broadcast_to(vectors[1], goal.shape))
    holder = parents[leg.foot]
    origin = at[:, holder] if holder >= 0 else np.zeros_like(goal)
    place[:, leg.foot] = rotate(_inverse_of_parent(parents, leg.foot, turned), reached - origin)
    there = (np.linalg.norm(goal - pos[:, leg.foot], axis=-1) < 1e-9)[:, None, None]
    return replace(
        clip,
        local_pos=np.where(there, clip.local_pos, place),
        local_quat_wxyz=np.where(there, clip.local_quat_wxyz, local),
    )


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
    return bend, turn_between(reached, goal - pos[:, leg.hip])


def bend_limb(
    upper: Array, lower: Array, vectors: tuple[Array, Array], axis: Array, goal: Array
) -> tuple[Array, Array]:
    """Rotations (T, 4) of a limb's two bones, turned in the world so that it ends at ``goal`` (T, 3) from its hip.

    vectors: (3,) each, the way from hip to knee and from knee to foot in the frames of the two. axis: (3,) the knee's
    in the lower one's. As near as the limb is long.
    """
    lengths = float(np.linalg.norm(vectors[0])), float(np.linalg.norm(vectors[1]))
    far = np.clip(np.linalg.norm(goal, axis=-1), abs(lengths[0] - lengths[1]) + 1e-6, STRAIGHT * sum(lengths))
    wanted = np.arccos(
        np.clip((far**2 - lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * lengths[0] * lengths[1]), -1.0, 1.0)
    )
    for _ in range(3):  # a knee whose axis is not square to the limb's plane needs several
        thigh, shin = (rotate(q, np.broadcast_to(v, (len(q), 3))) for q, v in zip((upper, lower), vectors, strict=True))
        along = thigh / lengths[0]
        across = rotate(lower, np.broadcast_to(axis, thigh.shape))
        across = across - np.sum(across * along, -1, keepdims=True) * along
        across /= np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-9)
        now = np.arctan2(np.sum(np.cross(thigh, shin) * across, -1), np.sum(thigh * shin, -1))
        # The knee bends to the side that it is bent to already.
        bend = from_rotation_vector(across * (np.where(np.median(now) < 0.0, -wanted, wanted) - now)[:, None])
        turn = turn_between(thigh + rotate(bend, shin), goal)
        upper, lower = multiply(turn, upper), multiply(turn, multiply(bend, lower))
    return upper, lower


def turn_between(a: Array, b: Array) -> Array:
    """(T, 4) the shortest turn from directions ``a`` (T, 3) to ``b`` (T, 3)."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    axis = np.cross(a, b)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = np.arctan2(sine[:, 0], np.sum(a * b, -1))
    return from_rotation_vector(axis / np.maximum(sine, 1e-12) * angle[:, None])
