# SPDX-License-Identifier: GPL-3.0-or-later
"""Standing on four legs: which skeletons do, and which links of a body are its front feet.

The front legs of a four-legged body have the roles of arms (upper arm, forearm, hand), as anatomists have it. Whatever
is meant for feet asks ``find_front_feet`` as well; of a two-legged body there are none.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array, multiply, rotate, to_matrix
from .anatomy import SkeletonTree
from .model import BodyModel, Shape

# How high the front feet may be above the hind feet at rest, as a share of the height of the shoulders.
_AS_LOW = 0.3
# The same of the front feet's lowest points, as a share of the body's height.
_ON_GROUND = 0.15
SOLES = ("foot", "toe")
"""Roles of the links that stand, the front feet of a four-legged body aside."""


def stands_on_four_legs(tree: SkeletonTree, limbs: Mapping[tuple[str, str], int]) -> bool:
    """Whether the arms reach the ground at rest and the trunk lies. limbs: bones by (role, side)."""
    sides = [side for side in ("L", "R") if {("upper_arm", side), ("forearm", side)} <= limbs.keys()]
    if not sides:
        return False
    hips = tree.heads[[limbs["thigh", side] for side in ("L", "R")]].mean(0)
    shoulders = tree.heads[[limbs["upper_arm", side] for side in sides]].mean(0)
    ground = min(_lowest_of_limb(tree, limbs, side, ("shin", "foot", "toe")) for side in ("L", "R"))
    hands = max(_lowest_of_limb(tree, limbs, side, ("forearm", "hand")) for side in sides)
    trunk = shoulders - hips
    lies = abs(trunk[2]) < float(np.linalg.norm(trunk[:2]))
    return bool(lies and hands - ground < _AS_LOW * (shoulders[2] - ground))


def _lowest_of_limb(
    tree: SkeletonTree, limbs: Mapping[tuple[str, str], int], side: str, roles: tuple[str, ...]
) -> float:
    """Metres: how low a limb's bones and their tails are, a detached foot included."""
    bones = {bone for role in roles if (role, side) in limbs for bone in tree.subtree(limbs[role, side])}
    tails = [tail for bone in bones if not tree.children[bone] and (tail := tree.tail(bone)) is not None]
    return min([float(tree.heads[bone, 2]) for bone in bones] + [float(tail[2]) for tail in tails])


def find_front_feet(body: BodyModel) -> NDArray[np.int64]:
    """The links that are front feet: hands (forearms without one) that stand as low at rest as the feet do.

    Empty for a body on two legs, and for one that has no feet to compare with.
    """
    pos, quat = body.skeleton.rest_world()
    heights = np.empty(len(body.links))
    for index, link in enumerate(body.links):
        bone = body.skeleton.index(link.bone)
        lows = [lowest_height(shape, pos[bone][None], quat[bone][None])[0] for shape in link.shapes]
        heights[index] = min(lows, default=pos[bone, 2])
    roles = [link.role for link in body.links]
    feet = [i for i, role in enumerate(roles) if role in SOLES] or [i for i, role in enumerate(roles) if role == "shin"]
    handed = {link.side for link in body.links if link.role == "hand"}
    ends = [
        i
        for i, link in enumerate(body.links)
        if link.role == "hand" or (link.role == "forearm" and link.side not in handed)
    ]
    if not feet or not ends:
        return np.zeros(0, dtype=np.int64)
    ground = heights[feet].min()
    tall = pos[[body.skeleton.index(link.bone) for link in body.links], 2].max() - ground
    low = heights[ends] - ground < _ON_GROUND * tall
    return np.array(ends, dtype=np.int64) if low.all() else np.zeros(0, dtype=np.int64)


def flag_soles(body: BodyModel) -> NDArray[np.bool_]:
    """(L,) which links are feet or toes, front feet included."""
    flags = np.array([link.role in SOLES for link in body.links])
    flags[find_front_feet(body)] = True
    return flags


def lowest_height(shape: Shape, pos: Array, quat: Array) -> Array:
    """(T,) height of the shape's lowest point, its link at ``pos`` (T, 3) and ``quat`` (T, 4)."""
    centre = pos[:, 2] + rotate(quat, np.broadcast_to(shape.pos, pos.shape))[:, 2]
    if shape.kind == "sphere":
        return centre - shape.size[0]
    upright = to_matrix(multiply(quat, shape.quat_wxyz))[:, 2]
    if shape.kind == "capsule":
        return centre - np.abs(upright[:, 2]) * shape.size[1] - shape.size[0]
    return centre - np.abs(upright) @ shape.size
