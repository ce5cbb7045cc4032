# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton measured with its roles: which way it faces, how tall it is, where its parts end."""

from dataclasses import dataclass

import numpy as np

from ..errors import RigError
from ..geometry.quaternions import Array
from ..motion import Clip
from ..motion.skeleton import to_world
from .anatomy import UP, SkeletonTree, flatten_direction, normalize_vectors
from .four_legs import stands_on_four_legs
from .roles import RoleMap
from .tables import ANKLE_HEIGHT, HEAD_HEIGHT, SEGMENTS

SIDES = ("L", "R")


@dataclass(frozen=True, eq=False)
class BodyMeasures:
    """left, front: (3,) level unit vectors. hips, neck: (3,) metres, middle of the hip joints and base of the neck.

    stature: metres, halfway between what the legs alone say and what legs, trunk and head add up to: skeletons from
        motion capture often have a trunk that is too short for their legs.
    four_legged: whether the arms reach the ground at rest and the trunk lies.
    """

    left: Array
    front: Array
    hips: Array
    neck: Array
    stature: float
    four_legged: bool


def settle_rest_pose(tree: SkeletonTree, roles: RoleMap, clip: Clip | None) -> SkeletonTree:
    """The tree, with bones that the clip holds away from their rest place throughout where the clip has them."""
    if clip is None:
        return tree
    skeleton = tree.skeleton
    middle = np.median(clip.local_pos, axis=0)
    away = np.linalg.norm(middle - skeleton.rest_pos, axis=-1)
    spread = np.linalg.norm(np.ptp(clip.local_pos, axis=0), axis=-1)
    below = np.zeros(len(tree), dtype=bool)
    below[tree.subtree(roles.pelvis)[1:]] = True
    moved = below & (away > 0.02 * tree.size) & (spread < 0.5 * away)
    if not moved.any():
        return tree
    local = np.where(moved[:, None], middle, skeleton.rest_pos)
    return SkeletonTree(skeleton, *to_world(skeleton.parents, local, skeleton.rest_quat_wxyz))


def measure_skeleton(tree: SkeletonTree, roles: RoleMap) -> BodyMeasures:
    """Measure the skeleton at rest; refuses one whose legs have no length."""
    heads, limbs = tree.heads, roles.limbs
    hips = heads[[limbs["thigh", side] for side in SIDES]].mean(0)
    legs = [
        tree.distance(limbs["thigh", side], limbs["shin", side])
        + float(np.linalg.norm(limb_end(tree, roles, "shin", side) - heads[limbs["shin", side]]))
        for side in SIDES
    ]
    across = heads[limbs["thigh", "L"]] - heads[limbs["thigh", "R"]]
    if all(("upper_arm", side) in limbs for side in SIDES):
        across = across + heads[limbs["upper_arm", "L"]] - heads[limbs["upper_arm", "R"]]
    if min(legs) < 1e-3 or np.linalg.norm(across[:2]) < 1e-4:
        name = tree.skeleton.names[limbs["thigh", "L"]]
        raise RigError(f"The legs have no length or lie in one line (see '{name}')", "Check the scale of the armature")
    left = flatten_direction(across)
    neck = _neck(tree, roles, hips, float(np.mean(legs)))
    leg, trunk = float(np.mean(legs)), float(np.linalg.norm(neck - hips))
    by_leg = leg / (SEGMENTS["thigh"].length + SEGMENTS["shin"].length)
    stature = 0.5 * (by_leg + (leg + trunk) / (1.0 - HEAD_HEIGHT - ANKLE_HEIGHT))
    return BodyMeasures(left, np.cross(left, UP), hips, neck, stature, stands_on_four_legs(tree, limbs))


def limb_end(tree: SkeletonTree, roles: RoleMap, role: str, side: str) -> Array:
    """(3,) where a thigh, shin, upper arm or forearm ends: at the next joint, at its tail, or where it should."""
    order = ("thigh", "shin", "foot") if role in ("thigh", "shin") else ("upper_arm", "forearm", "hand")
    place = order.index(role)
    bone = roles.limbs[role, side]
    for later in order[place + 1 :]:
        if (later, side) in roles.limbs:
            return tree.heads[roles.limbs[later, side]]
    tail = tree.tail(bone)
    if tail is not None:
        return tail
    if place == 0:  # an arm of one bone, whose length nothing tells
        return tree.heads[bone] - 0.1 * tree.size * UP
    above = roles.limbs[order[place - 1], side]
    ratio = SEGMENTS[role].length / SEGMENTS[order[place - 1]].length
    return tree.heads[bone] + ratio * (tree.heads[bone] - tree.heads[above])


def _neck(tree: SkeletonTree, roles: RoleMap, hips: Array, leg: float) -> Array:
    """(3,) the base of the neck, or where it should be."""
    above = [*roles.neck, roles.head]
    arms = [roles.limbs["upper_arm", side] for side in SIDES if ("upper_arm", side) in roles.limbs]
    for bones in (above[:1] if above[0] >= 0 else [], arms if len(arms) == 2 else []):
        if bones and np.linalg.norm(tree.heads[bones].mean(0) - hips) > 0.1 * leg:
            return tree.heads[bones].mean(0)
    trunk = sum(SEGMENTS[part].length for part in ("lower_trunk", "middle_trunk", "upper_trunk"))
    length = leg * trunk / (SEGMENTS["thigh"].length + SEGMENTS["shin"].length)
    top = tree.heads[roles.trunk[-1]] - hips if roles.trunk else UP
    return hips + length * normalize_vectors(top if np.linalg.norm(top) > 1e-6 else UP)
