# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles from the shape of a skeleton at rest, for bones whose names say nothing.

Two mirrored branches that reach the ground are legs, two that leave the trunk further on are arms, what goes on
past the arms is neck and head.
"""

from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from ..geometry.quaternions import Array, rotate
from ..motion import Clip
from .anatomy import UP, SkeletonTree, flatten_direction, normalize_vectors

_ALIKE = 0.25  # how much two mirrored branches may differ in length
_LIMB = 0.12  # of the skeleton's size: a branch shorter than this is no limb


@dataclass(frozen=True)
class ShapeRoles:
    """What the shape says: limbs by (role, side), the trunk from the pelvis up, neck and head, and a tail."""

    limbs: dict[tuple[str, str], int] = field(default_factory=dict)
    pelvis: int = -1
    trunk: tuple[int, ...] = ()
    neck: tuple[int, ...] = ()
    tail: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two mirrored branches of one bone; ``across`` is (3,) from b to a."""

    joint: int
    a: int
    b: int
    across: Array
    reach: float
    lowest: float


def roles_by_shape(tree: SkeletonTree, clip: Clip | None = None) -> ShapeRoles:
    """Roles from the rest pose; where that has no front, from the way the clip travels."""
    pairs = _limb_pairs(tree)
    legs = _legs(tree, pairs)
    if legs is None:
        return ShapeRoles()
    arms = _arms(tree, pairs, legs)
    across = normalize_vectors(
        legs.across if arms is None else legs.across + np.sign(legs.across @ arms.across) * arms.across
    )
    chains = {end: _leg(tree, end) for end in (legs.a, legs.b)}
    left = _left(tree, across, [chains[legs.a], chains[legs.b]], clip)
    limbs: dict[tuple[str, str], int] = {}
    for end, sign in ((legs.a, 1.0), (legs.b, -1.0)):
        side = "L" if sign * (legs.across @ left) > 0 else "R"
        limbs.update({(role, side): bone for role, bone in chains[end].items()})
    if arms is not None:
        for end, sign in ((arms.a, 1.0), (arms.b, -1.0)):
            side = "L" if sign * (arms.across @ left) > 0 else "R"
            limbs.update({(role, side): bone for role, bone in _arm(tree, end, arms.joint).items()})
    _detached_feet(tree, limbs)
    trunk, neck = _trunk(tree, pairs, legs, arms)
    return ShapeRoles(limbs, legs.joint, trunk, neck, _tail(tree, pairs, legs, trunk))


def _limb_pairs(tree: SkeletonTree) -> list[_Pair]:
    """Mirrored branches, all across the same plane, none inside another."""
    pairs = []
    for joint in range(len(tree)):
        for a, b in combinations(tree.children[joint], 2):
            pair = _mirrored(tree, joint, a, b)
            if pair is not None:
                pairs.append(pair)
    if not pairs:
        return []
    weighted = np.array([flatten_direction(pair.across) * pair.reach for pair in pairs])
    axis = np.linalg.eigh(weighted.T @ weighted)[1][:, -1]
    along = [pair for pair in pairs if abs(flatten_direction(pair.across) @ axis) > 0.85]
    inside = {bone for pair in along for end in (pair.a, pair.b) for bone in tree.subtree(end)}
    return [pair for pair in along if pair.joint not in inside]


def _mirrored(tree: SkeletonTree, joint: int, a: int, b: int) -> _Pair | None:
    """The pair of branches, if they are of one kind, of one length, and beside each other."""
    branches = [tree.subtree(end) for end in (a, b)]
    if abs(len(branches[0]) - len(branches[1])) > 0.1 * len(branches[0]):
        return None
    spans = [tree.reach(end) + tree.distance(end, joint) for end in (a, b)]
    if min(spans) < 1e-9 or abs(spans[0] - spans[1]) > _ALIKE * max(spans):
        return None
    centres = [tree.heads[branch].mean(0) for branch in branches]
    across = centres[0] - centres[1]
    if abs(across @ UP) > 0.4 * np.linalg.norm(across) or np.linalg.norm(across) < 1e-3 * tree.size:
        return None
    points = np.concatenate([tree.heads[branch] for branch in branches])
    return _Pair(joint, a, b, across, sum(spans) / 2, float(points[:, 2].min()))


def find_ground_limbs(tree: SkeletonTree) -> list[int]:
    """The uppermost bones of all mirrored branches that hang down to the ground and bend, in the skeleton's order."""
    return sorted({end for pair in _standing_pairs(tree, _limb_pairs(tree)) for end in (pair.a, pair.b)})


def _legs(tree: SkeletonTree, pairs: list[_Pair]) -> _Pair | None:
    """The pair nearest to the root of those that reach the ground."""
    low = _standing_pairs(tree, pairs)
    return min(low, key=lambda p: (len(tree.ancestors(p.joint)), -p.reach), default=None)


def _standing_pairs(tree: SkeletonTree, pairs: list[_Pair]) -> list[_Pair]:
    """The pairs that reach the ground; a leg bends, so it has two bones at least."""
    long = [p for p in pairs if p.reach > _LIMB * tree.size and min(len(tree.main_chain(e)) for e in (p.a, p.b)) > 1]
    hanging = [p for p in long if p.lowest < tree.heads[p.joint, 2] - 0.25 * p.reach]
    if not hanging:
        return []
    ground = min(p.lowest for p in hanging)
    span = float(np.ptp(tree.heads[:, 2]))
    return [p for p in hanging if p.lowest < ground + 0.2 * max(span, 1e-9)]


def _arms(tree: SkeletonTree, pairs: list[_Pair], legs: _Pair) -> _Pair | None:
    """The longest other pair that hangs further along the trunk."""
    others = [
        p
        for p in pairs
        if p is not legs
        and p.reach > _LIMB * tree.size
        and tree.under(p.joint, legs.joint)
        and min(len(tree.main_chain(e)) for e in (p.a, p.b)) > 1
    ]
    return max(others, key=lambda p: p.reach, default=None)


def _leg(tree: SkeletonTree, top: int) -> dict[str, int]:
    """Thigh, shin, foot and toe of a branch: thigh and shin are the longest two bones in a row."""
    chain = tree.main_chain(top)
    spans = [tree.distance(a, b) for a, b in pairwise(chain)]
    if len(spans) < 2:  # thigh and shin alone: the shin's length is not known
        return dict(zip(("thigh", "shin"), chain, strict=False))
    first = max(range(len(spans) - 1), key=lambda i: spans[i] + spans[i + 1])
    return dict(zip(("thigh", "shin", "foot", "toe"), chain[first:], strict=False))


def _arm(tree: SkeletonTree, top: int, joint: int) -> dict[str, int]:
    """Clavicle, upper arm, forearm and hand of a branch.

    The longest two bones in a row are upper arm and forearm, but a bone that begins near the middle of the body is a
    clavicle, however long it is.
    """
    chain = tree.main_chain(top)
    spans = [tree.distance(a, b) for a, b in pairwise(chain)]
    offset = [float(np.linalg.norm((tree.heads[bone] - tree.heads[joint])[:2])) for bone in chain]
    starts = [i for i in range(len(spans)) if offset[i] > 0.15 * sum(spans)]
    first = max(starts, key=lambda i: sum(spans[i : i + 2]), default=0)
    found = dict(zip(("upper_arm", "forearm", "hand"), chain[first:], strict=False))
    if first > 0:
        found["clavicle"] = chain[first - 1]
    return found


def _left(tree: SkeletonTree, across: Array, chains: list[dict[str, int]], clip: Clip | None) -> Array:
    """(3,) the direction of the character's left: feet point to the front; else it walks there; else it faces -Y, as
    characters do in Blender, or +X, as robots do, whichever its legs stand across.
    """
    front = np.zeros(3)
    for chain in chains:
        foot = chain.get("foot")
        if foot is not None:
            toe = tree.heads[chain["toe"]] if "toe" in chain else tree.tail(foot)
            if toe is not None:
                front += toe - tree.heads[foot]
    front -= front @ UP * UP
    if np.linalg.norm(front) < 0.02 * tree.size and clip is not None:
        front = _travel(tree, clip)
    if np.linalg.norm(front) < 0.02 * tree.size:
        front = np.array([0.0, -1.0, 0.0] if abs(across[0]) >= abs(across[1]) else [1.0, 0.0, 0.0])
    left = np.cross(UP, flatten_direction(front))
    return flatten_direction(across) * (1.0 if across @ left >= 0.0 else -1.0)


def _travel(tree: SkeletonTree, clip: Clip) -> Array:
    """(3,) how the root travels over the clip, in metres, as seen from its own front."""
    pos, quat = clip.world()
    root = int(np.argmax(np.ptp(pos, axis=0).sum(-1)))
    step = np.diff(pos[:, root], axis=0)
    # Undo the turn since rest, so that a walk in a circle also has a front.
    inverse = quat[:-1, root] * np.array([1.0, -1.0, -1.0, -1.0])
    return rotate(tree.quats[root], rotate(inverse, step)).sum(0) * np.array([1.0, 1.0, 0.0])


def _detached_feet(tree: SkeletonTree, limbs: dict[tuple[str, str], int]) -> None:
    """Feet that hang on something else than the shin (controls of the root): the nearest bone below the shin."""
    taken = set(limbs.values())
    for side in ("L", "R"):
        thigh, shin = limbs[("thigh", side)], limbs[("shin", side)]
        if ("foot", side) in limbs:
            continue
        length = tree.distance(thigh, shin)
        near = [
            bone
            for bone in range(len(tree))
            if bone not in taken
            and not tree.under(bone, thigh)
            and not tree.under(thigh, bone)
            and tree.heads[bone, 2] < tree.heads[shin, 2] - 0.3 * length
            and tree.distance(bone, shin) < 2.0 * length
        ]
        if near:
            limbs[("foot", side)] = min(near, key=lambda bone: tree.distance(bone, shin))
            taken.add(limbs[("foot", side)])


def _trunk(
    tree: SkeletonTree, pairs: list[_Pair], legs: _Pair, arms: _Pair | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The bones from the pelvis (without it) to the arms, and those past the arms."""
    taken = {bone for pair in pairs for end in (pair.a, pair.b) for bone in tree.subtree(end)}

    def onward(bone: int) -> list[int]:
        chain: list[int] = []
        # A bone past the trunk with many children has a face.
        while (kids := [k for k in tree.children[bone] if k not in taken]) and not (chain and len(kids) > 2):
            bone = max(kids, key=lambda kid: (tree.heads[tree.subtree(kid), 2].max(), tree.reach(kid)))
            chain.append(bone)
        return chain

    if arms is None:
        chain = onward(legs.joint)
        return tuple(chain[:-1]), tuple(chain[-1:])
    path = tree.ancestors(arms.joint)
    trunk = path[: path.index(legs.joint)][::-1]
    return tuple(trunk), tuple(onward(arms.joint))


def _tail(tree: SkeletonTree, pairs: list[_Pair], legs: _Pair, trunk: tuple[int, ...]) -> tuple[int, ...]:
    """A chain of two bones or more from the pelvis that is neither leg nor trunk."""
    taken = {bone for pair in pairs for end in (pair.a, pair.b) for bone in tree.subtree(end)}
    chains = [tree.main_chain(k) for k in tree.children[legs.joint] if k not in taken and k not in trunk]
    long = [chain for chain in chains if len(chain) > 1 and tree.reach(chain[0]) > _LIMB * tree.size]
    longest: list[int] = max(long, key=lambda chain: tree.reach(chain[0]), default=[])
    return tuple(longest)
