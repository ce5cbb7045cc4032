# SPDX-License-Identifier: GPL-3.0-or-later
"""What the links of a given body are: thighs, shins, hands. Robots have hinges in a row where people have one joint.

The last hinge of a row has the joint's role, for the limb hangs on it; those before it have its side and no role.
"""

from collections.abc import Sequence

import numpy as np

from ..errors import RigError
from ..geometry.quaternions import Array
from ..motion import Skeleton
from .anatomy import SkeletonTree
from .bone_names import split_name
from .roles import ARM_ROLES, LEG_ROLES, RoleMap, find_roles

Roles = list[tuple[str, str]]

_LONG = 0.12  # of a leg: a hinge that far above the next one is a joint of its own
_FOUR = 4


def name_given_links(skeleton: Skeleton, parents: Sequence[int]) -> Roles:
    """(role, side) of each link, of a body with a bone a link; refuses what stands neither on two legs nor on four.

    parents: of the links; the skeleton's bones are in their order.
    """
    tree = SkeletonTree.of(skeleton)
    legs = _four_legs(tree)
    if legs:
        return _name_four_legs(tree, legs)
    return _by_chains(tree, find_roles(tree))


def _by_chains(tree: SkeletonTree, found: RoleMap) -> Roles:
    roles: Roles = [("", "")] * len(tree)
    roles[found.pelvis] = ("pelvis", "")
    for order in (LEG_ROLES[:3], ARM_ROLES):
        for side in ("L", "R"):
            starts = [(role, found.limbs[role, side]) for role in order if (role, side) in found.limbs]
            for place, (role, start) in enumerate(starts):
                stop = starts[place + 1][1] if place + 1 < len(starts) else -1
                for bone in (row := _row(tree, start, stop)):
                    roles[bone] = ("", side)
                # Knees and elbows bend one way: a forearm that turns about itself is the wrist's affair.
                roles[row[0 if role in ("shin", "forearm") else -1]] = (role, side)
    trunk = [bone for bone in found.trunk if bone != found.pelvis]
    for bone in trunk[:-1]:  # a hinge on the one above it is a part of one joint
        roles[bone] = ("spine", "") if _is_apart(tree, bone) else ("", "")
    if trunk:
        roles[trunk[-1]] = ("chest", "")
    upper = [bone for bone in (*found.neck, found.head) if bone >= 0]
    if upper:
        roles[upper[-1]] = ("head", "")
    return roles


def _is_apart(tree: SkeletonTree, bone: int) -> bool:
    child = tree.children[bone]
    return bool(child) and min(tree.distance(bone, one) for one in child) > _LONG * tree.size


def _row(tree: SkeletonTree, start: int, stop: int) -> list[int]:
    """The bones from ``start`` down to the one above ``stop``, or as far as there is only one way down."""
    if stop >= 0 and tree.under(stop, start):
        path = tree.ancestors(stop)
        return path[1 : path.index(start) + 1][::-1]
    row = [start]
    while stop < 0 and len(tree.children[row[-1]]) == 1 and len(row) < 3:
        row.append(tree.children[row[-1]][0])
    return row


def _four_legs(tree: SkeletonTree) -> list[list[int]]:
    """The bones of four limbs that hang on the root and reach as low as each other; none of other bodies."""
    limbs = []
    for top in tree.children[0]:
        row = [top]
        while len(tree.children[row[-1]]) == 1:
            row.append(tree.children[row[-1]][0])
        if len(row) >= 2 and not tree.children[row[-1]]:
            limbs.append(row)
    ends = np.array([tree.heads[row[-1]] for row in limbs])
    if len(limbs) != _FOUR or float(np.ptp(ends[:, 2])) > 0.25 * tree.size:
        return []
    return limbs if (ends[:, 2] < tree.heads[0, 2]).all() else []


def _name_four_legs(tree: SkeletonTree, limbs: list[list[int]]) -> Roles:
    tops = np.array([tree.heads[row[0]] for row in limbs]) - tree.heads[0]
    forward, left = _facing(tree, limbs, tops)
    roles: Roles = [("", "")] * len(tree)
    roles[0] = ("pelvis", "")
    for row, top in zip(limbs, tops, strict=True):
        side = "L" if top @ left > 0.0 else "R"
        names = ("upper_arm", "forearm", "hand") if top @ forward > 0.0 else ("thigh", "shin", "foot")
        # From below: a foot only where there is more than hip, thigh and shin.
        ends = row[-3:] if len(row) > 3 else row[-2:]
        for bone in row:
            roles[bone] = ("", side)
        for bone, role in zip(ends, names, strict=False):
            roles[bone] = (role, side)
    if len({role for role in roles if role[0] in ("thigh", "upper_arm")}) != _FOUR:
        raise RigError("The model's four legs are not two on each side", "Choose another model")
    return roles


def _facing(tree: SkeletonTree, limbs: list[list[int]], tops: Array) -> tuple[Array, Array]:
    """(3,) each: where the body faces, and its left. By the legs' names where they tell, else along X as robots do."""
    front, side = np.zeros(3), np.zeros(3)
    for row, top in zip(limbs, tops, strict=True):
        words = {word for bone in row for word in split_name(tree.skeleton.names[bone])}
        ahead = bool(words & {"front", "fore", "fr", "fl", "rf", "lf"})
        behind = bool(words & {"rear", "hind", "back", "rr", "rl", "hr", "hl", "lh", "rh"})
        front += top * (ahead - behind)
        is_left = bool(words & {"left", "l", "fl", "rl", "hl", "lf", "lh"})
        side += top * (is_left - bool(words & {"right", "r", "fr", "rr", "hr", "rf", "rh"}))
    flat = np.array([1.0, 1.0, 0.0])
    if np.linalg.norm(front * flat) < 1e-6:
        front = np.array([1.0, 0.0, 0.0])
    front = front * flat / np.linalg.norm(front * flat)
    left = np.cross([0.0, 0.0, 1.0], front)
    return front, left if np.linalg.norm(side * flat) < 1e-6 or side @ left > 0.0 else -left
