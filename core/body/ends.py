# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet and hands: which way a sole faces and how far it reaches, which way a palm lies."""

from dataclasses import dataclass, replace

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_matrix, from_rotation_vector, rotate
from ..motion import Clip
from .anatomy import UP, SkeletonTree, flatten_direction, normalize_vectors
from .body_measures import SIDES, BodyMeasures, limb_end
from .model import Shape
from .plan import toe_length
from .roles import RoleMap
from .tables import ANKLE_HEIGHT, SEGMENTS

# Along a foot of length 1: ankle 0.26 and ball 0.72 from the heel; the ankle is 0.26 above the sole.
_ANKLE, _BALL = 0.26, 0.72
_WIDTH_OF_LENGTH = 0.4


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot at rest in the world: ankle (3,) metres, unit axes front and up (3,).

    In metres along front from the ankle: heel (behind, so below zero), ball, tip. sole: below the ankle along up.
    """

    ankle: Array
    front: Array
    up: Array
    heel: float
    ball: float
    tip: float
    sole: float

    @property
    def length(self) -> float:
        """Metres from heel to tip."""
        return self.tip - self.heel

    def box(self, start: float, stop: float, height: float, width: float) -> Shape:
        """A box on the sole from ``start`` to ``stop`` along front, its own X to the front and Z up."""
        centre = self.ankle + 0.5 * (start + stop) * self.front + (0.5 * height - self.sole) * self.up
        axes = np.stack([self.front, np.cross(self.up, self.front), self.up], axis=-1)
        return Shape("box", 0.5 * np.array([stop - start, width, height]), centre, from_matrix(axes))

    @property
    def width(self) -> float:
        """Metres across."""
        return _WIDTH_OF_LENGTH * self.length


def find_feet(tree: SkeletonTree, roles: RoleMap, measures: BodyMeasures, clip: Clip | None = None) -> dict[str, Foot]:
    """The feet by side.

    A rest pose that stands on the ground tells how the soles lie. One that stands in the air tells it roughly, and one
    that does not stand not at all: then the clip does, where it holds a foot low and still, or else people's build.
    """
    ways = {side: _way(tree, roles, measures, side) for side in SIDES}
    ankles = {side: limb_end(tree, roles, "shin", side) for side in SIDES}
    ground = _ground(tree, roles, ankles, measures.stature)
    stances = {side: _up_in_stance(tree, roles, measures, side, clip) for side in SIDES}
    found = {}
    if _stands(ankles, ways, measures.stature):
        lean = (0.0, 0.0) if ground is not None else _lean(ways, stances)
        for side in SIDES:
            front = flatten_direction(ways[side])
            upright = float(np.sqrt(1.0 - lean[0] ** 2 - lean[1] ** 2))
            up = upright * UP + lean[0] * front + lean[1] * _outwards(front, side)
            found[side] = _foot(tree, roles, measures, side, (ankles[side], ways[side], up))
        if lean == (0.0, 0.0):
            floor = min(foot.ankle[2] - foot.sole for foot in found.values()) if ground is None else ground
            found = {side: replace(foot, sole=float(foot.ankle[2]) - floor) for side, foot in found.items()}
        return found
    for side in SIDES:
        stance = stances[side]
        up = _up_by_build(ways[side], measures, roles, side) if stance is None else stance
        found[side] = _foot(tree, roles, measures, side, (ankles[side], ways[side], up))
    return found


def _ground(tree: SkeletonTree, roles: RoleMap, ankles: dict[str, Array], stature: float) -> float | None:
    """Height of the ground at rest: zero, or a root bone's, if that is as far below the ankles as soles are."""
    roots = [float(tree.heads[bone, 2]) for bone in tree.ancestors(roles.pelvis)[1:]]
    for height in (0.0, *sorted(roots)):
        if all(0.005 * stature < ankle[2] - height < 0.12 * stature for ankle in ankles.values()):
            return height
    return None


def _lean(ways: dict[str, Array], stances: dict[str, Array | None]) -> tuple[float, float]:
    """How far the soles' up leans to the front and outwards at rest, by how the clip stands; the same for both feet."""
    leans = []
    for side, up in stances.items():
        if up is not None and up @ UP > np.cos(np.radians(45.0)):
            front = flatten_direction(ways[side])
            leans.append(np.array([up @ front, up @ _outwards(front, side)]))
    if not leans:
        return 0.0, 0.0
    leans.sort(key=lambda lean: float(np.linalg.norm(lean)))
    # Where the two feet do not agree, the one that is nearer to rest is more likely to stand.
    agree = np.linalg.norm(leans[-1] - leans[0]) < np.sin(np.radians(12.0))
    lean = np.mean(leans, axis=0) if agree else leans[0]
    return float(lean[0]), float(lean[1])


def _outwards(front: Array, side: str) -> Array:
    return np.cross(UP, front) * (1.0 if side == "L" else -1.0)


def _way(tree: SkeletonTree, roles: RoleMap, measures: BodyMeasures, side: str) -> Array:
    """(3,) from the ankle to the toe joint or the end of the foot; to the front where the skeleton does not say."""
    foot, toe = roles.limbs.get(("foot", side)), roles.limbs.get(("toe", side))
    if foot is None:
        return measures.front * (1.0 - _ANKLE) * SEGMENTS["foot"].length * measures.stature
    end = tree.heads[toe] if toe is not None else tree.tail(foot)
    way = np.zeros(3) if end is None else end - tree.heads[foot]
    if np.linalg.norm(way) > 0.015 * measures.stature:
        return np.asarray(way)
    return measures.front * (1.0 - _ANKLE) * SEGMENTS["foot"].length * measures.stature


def _stands(ankles: dict[str, Array], ways: dict[str, Array], stature: float) -> bool:
    even = abs(ankles["L"][2] - ankles["R"][2]) < 0.03 * stature
    return bool(even and all(np.linalg.norm(way[:2]) > 0.4 * np.linalg.norm(way) for way in ways.values()))


def _up_in_stance(
    tree: SkeletonTree, roles: RoleMap, measures: BodyMeasures, side: str, clip: Clip | None
) -> Array | None:
    """(3,) the sole's up at rest, from where the clip holds the foot low and still; None where it never does."""
    bone = roles.limbs.get(("foot", side))
    if clip is None or bone is None or len(clip) < 10:
        return None
    end = roles.limbs.get(("toe", side), bone)
    pos, quat = clip.world()
    speed = sum(np.linalg.norm(np.gradient(pos[:, b], clip.dt_s, axis=0), axis=-1) for b in (bone, end))
    low = pos[:, end, 2] < np.quantile(pos[:, end, 2], 0.05) + 0.03 * measures.stature
    still = np.flatnonzero(low & (speed < max(float(np.quantile(speed, 0.1)), 0.15 * measures.stature)))
    if len(still) < max(4.0, 0.05 * clip.fps):
        return None
    ups = rotate(conjugate(quat[still, bone]), UP)
    up = normalize_vectors(ups.mean(0))
    if np.median(np.arccos(np.clip(ups @ up, -1.0, 1.0))) > np.radians(12.0):
        return None
    return rotate(tree.quats[bone], up)


def _up_by_build(way: Array, measures: BodyMeasures, roles: RoleMap, side: str) -> Array:
    """(3,) the sole's up from the slope that people's feet have between ankle and ball, or ankle and tip."""
    forward = _BALL - _ANKLE if ("toe", side) in roles.limbs else 1.0 - _ANKLE
    slope = np.arctan2(ANKLE_HEIGHT / SEGMENTS["foot"].length, forward)
    axis = normalize_vectors(measures.left - measures.left @ normalize_vectors(way) * normalize_vectors(way))
    # Turning the way up by its slope about the left side gives the front; up stands on it.
    front = rotate(from_rotation_vector(-slope * axis), normalize_vectors(way))
    return np.cross(front, axis)


def _foot(
    tree: SkeletonTree, roles: RoleMap, measures: BodyMeasures, side: str, placed: tuple[Array, Array, Array]
) -> Foot:
    ankle, way, up = placed
    stature = measures.stature
    front = normalize_vectors(way - way @ up * up)
    along, drop = float(way @ front), float(-(way @ up))
    if ("toe", side) in roles.limbs and ("foot", side) in roles.limbs:
        heel, ball, tip = -along * _ANKLE / (_BALL - _ANKLE), along, along + toe_length(tree, roles, side)
    else:
        heel, tip = -along * _ANKLE / (1.0 - _ANKLE), along
        ball = heel + _BALL * (tip - heel)
    if not 0.09 * stature < tip - heel < 0.25 * stature:  # not a foot's length: take what people have
        length = SEGMENTS["foot"].length * stature
        heel, ball, tip = -_ANKLE * length, (_BALL - _ANKLE) * length, (1.0 - _ANKLE) * length
    return Foot(ankle, front, up, heel, ball, tip, max(ANKLE_HEIGHT * stature, drop + 0.012 * stature))


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand at rest in the world: wrist (3,) metres, unit axes along the fingers and across the palm, its length."""

    wrist: Array
    along: Array
    across: Array
    length: float

    def box(self, volume: float) -> Shape:
        """A box of that volume, its own X along the fingers, Y across the palm and Z through it."""
        width = 0.45 * self.length
        thickness = volume / (width * self.length)
        axes = np.stack([self.along, self.across, np.cross(self.along, self.across)], axis=-1)
        size = 0.5 * np.array([self.length, width, thickness])
        return Shape("box", size, self.wrist + 0.5 * self.length * self.along, from_matrix(axes))


def find_hand(tree: SkeletonTree, roles: RoleMap, measures: BodyMeasures, side: str) -> Hand:
    """The hand, or the fist at the end of a forearm without one."""
    elbow, wrist = tree.heads[roles.limbs["forearm", side]], limb_end(tree, roles, "forearm", side)
    length = SEGMENTS["hand"].length * measures.stature
    bone = roles.limbs.get(("hand", side))
    fingers = [] if bone is None else [b for b in tree.subtree(bone)[1:] if tree.distance(b, bone) > 0.2 * length]
    along = normalize_vectors(wrist - elbow)
    if bone is None:
        upper = tree.distance(roles.limbs["upper_arm", side], roles.limbs["forearm", side])
        reach = float(np.linalg.norm(wrist - elbow))
        own = min(reach, upper * SEGMENTS["forearm"].length / SEGMENTS["upper_arm"].length)
        return Hand(elbow + own * along, along, _across(along, measures), max(reach - own, 0.5 * length))
    if fingers:
        along = normalize_vectors(tree.heads[fingers].mean(0) - wrist)
    elif (tail := tree.tail(bone)) is not None:
        along = normalize_vectors(tail - wrist)
    across = _across(along, measures)
    bases = [b for b in fingers if int(tree.parents[b]) == bone or int(tree.parents[b]) not in fingers]
    if len(bases) > 2:
        spread = tree.heads[bases] - tree.heads[bases].mean(0)
        spread = spread - np.outer(spread @ along, along)
        if np.linalg.norm(spread) > 0.1 * length:
            main = np.linalg.svd(spread)[2][0]
            across = normalize_vectors(main - main @ along * along) * (1.0 if main @ across >= 0 else -1.0)
    return Hand(wrist, along, across, float(np.clip(tree.reach(bone), length, 2.0 * length)))


def _across(along: Array, measures: BodyMeasures) -> Array:
    """(3,) across a palm that faces the ground with the arm held out, and the thigh with the arm hanging."""
    if abs(measures.front @ along) > 0.9:
        return flatten_direction(np.cross(UP, along))
    return normalize_vectors(measures.front - measures.front @ along * along)
