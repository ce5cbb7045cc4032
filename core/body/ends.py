# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet and hands: which way a sole faces and how far it reaches, which way a palm lies."""

from dataclasses import dataclass

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_matrix, from_rotation_vector, rotate
from ..motion import Clip
from .anatomy import UP, Tree, level, unit
from .measures import SIDES, Measures, limb_end
from .model import Shape
from .plan import toe_length
from .roles import RoleMap
from .tables import ANKLE_HEIGHT, SEGMENTS

# Along a foot of length 1: ankle 0.26 and ball 0.72 from the heel; the ankle is 0.26 above the sole.
_ANKLE, _BALL = 0.26, 0.72
_WIDTH_OF_LENGTH = 0.4


@dataclass(frozen=True, eq=False)
class Foot:
    """A foot at rest in the world: ankle (3,) metres, unit axes front, up and left (3,).

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

    def width(self) -> float:
        """Metres across."""
        return _WIDTH_OF_LENGTH * self.length


def feet(tree: Tree, roles: RoleMap, measures: Measures, clip: Clip | None = None) -> dict[str, Foot]:
    """The feet by side. Both soles are level with each other if the rest pose stands, and on the ground if it does."""
    ways = {side: _way(tree, roles, measures, side) for side in SIDES}
    ankles = {side: limb_end(tree, roles, "shin", side) for side in SIDES}
    stands = _stands(ankles, ways, measures.stature)
    found = {}
    for side in SIDES:
        up = UP if stands else _up_in_stance(tree, roles, measures, side, clip)
        up = _up_by_build(ways[side], measures, roles, side) if up is None else up
        found[side] = _foot(tree, roles, measures, side, (ankles[side], ways[side], up))
    if stands:
        on_ground = all(
            0.0 <= ankles[s][2] - max(-(ways[s] @ UP), 0.0) and ankles[s][2] < 0.12 * measures.stature for s in SIDES
        )
        ground = 0.0 if on_ground else min(foot.ankle[2] - foot.sole for foot in found.values())
        found = {side: _with_sole(foot, float(foot.ankle[2]) - ground) for side, foot in found.items()}
    return found


def _way(tree: Tree, roles: RoleMap, measures: Measures, side: str) -> Array:
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


def _up_in_stance(tree: Tree, roles: RoleMap, measures: Measures, side: str, clip: Clip | None) -> Array | None:
    """(3,) the sole's up at rest, from where the clip holds the foot low and still; None where it never does."""
    bone = roles.limbs.get(("foot", side))
    if clip is None or bone is None or len(clip) < 10:
        return None
    end = roles.limbs.get(("toe", side), bone)
    pos, quat = clip.world()
    speed = sum(np.linalg.norm(np.gradient(pos[:, b], clip.dt_s, axis=0), axis=-1) for b in {bone, end})
    low = pos[:, end, 2] < np.quantile(pos[:, end, 2], 0.05) + 0.03 * measures.stature
    still = np.flatnonzero(low & (speed < max(float(np.quantile(speed, 0.15)), 0.1 * measures.stature)))
    if len(still) < 3:
        return None
    ups = rotate(conjugate(quat[still, bone]), UP)
    up = unit(ups.mean(0))
    if np.median(np.arccos(np.clip(ups @ up, -1.0, 1.0))) > np.radians(20.0):
        return None
    return rotate(tree.quats[bone], up)


def _up_by_build(way: Array, measures: Measures, roles: RoleMap, side: str) -> Array:
    """(3,) the sole's up from the slope that people's feet have between ankle and ball, or ankle and tip."""
    forward = _BALL - _ANKLE if ("toe", side) in roles.limbs else 1.0 - _ANKLE
    slope = np.arctan2(ANKLE_HEIGHT / SEGMENTS["foot"].length, forward)
    axis = unit(measures.left - measures.left @ unit(way) * unit(way))
    # Turning the way up by its slope about the left side gives the front; up stands on it.
    front = rotate(from_rotation_vector(-slope * axis), unit(way))
    return np.cross(front, axis)


def _foot(tree: Tree, roles: RoleMap, measures: Measures, side: str, placed: tuple[Array, Array, Array]) -> Foot:
    ankle, way, up = placed
    stature = measures.stature
    front = unit(way - way @ up * up)
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


def _with_sole(foot: Foot, sole: float) -> Foot:
    return Foot(foot.ankle, foot.front, foot.up, foot.heel, foot.ball, foot.tip, sole)


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand at rest in the world: wrist (3,) metres, unit axes along the fingers and across the palm, its length."""

    wrist: Array
    along: Array
    across: Array
    length: float

    def box(self, mass_volume: float) -> Shape:
        """A box of that volume, its own X along the fingers, Y across the palm and Z through it."""
        width = 0.45 * self.length
        thickness = mass_volume / (width * self.length)
        axes = np.stack([self.along, self.across, np.cross(self.along, self.across)], axis=-1)
        size = 0.5 * np.array([self.length, width, thickness])
        return Shape("box", size, self.wrist + 0.5 * self.length * self.along, from_matrix(axes))


def hand(tree: Tree, roles: RoleMap, measures: Measures, side: str) -> Hand:
    """The hand, or the fist at the end of a forearm without one."""
    elbow, wrist = tree.heads[roles.limbs["forearm", side]], limb_end(tree, roles, "forearm", side)
    length = SEGMENTS["hand"].length * measures.stature
    bone = roles.limbs.get(("hand", side))
    fingers = [] if bone is None else [b for b in tree.subtree(bone)[1:] if tree.distance(b, bone) > 0.2 * length]
    along = unit(wrist - elbow)
    if bone is None:
        upper = tree.distance(roles.limbs["upper_arm", side], roles.limbs["forearm", side])
        reach = float(np.linalg.norm(wrist - elbow))
        own = min(reach, upper * SEGMENTS["forearm"].length / SEGMENTS["upper_arm"].length)
        return Hand(elbow + own * along, along, _across(along, measures), max(reach - own, 0.5 * length))
    if fingers:
        along = unit(tree.heads[fingers].mean(0) - wrist)
    elif (tail := tree.tail(bone)) is not None:
        along = unit(tail - wrist)
    across = _across(along, measures)
    bases = [b for b in fingers if int(tree.parents[b]) == bone or int(tree.parents[b]) not in fingers]
    if len(bases) > 2:
        spread = tree.heads[bases] - tree.heads[bases].mean(0)
        spread = spread - np.outer(spread @ along, along)
        if np.linalg.norm(spread) > 0.1 * length:
            main = np.linalg.svd(spread)[2][0]
            across = unit(main - main @ along * along) * (1.0 if main @ across >= 0 else -1.0)
    return Hand(wrist, along, across, float(np.clip(tree.reach(bone), length, 2.0 * length)))


def _across(along: Array, measures: Measures) -> Array:
    """(3,) across a palm that faces the ground with the arm held out, and the thigh with the arm hanging."""
    return (
        unit(measures.front - measures.front @ along * along)
        if abs(measures.front @ along) < 0.9
        else level(np.cross(UP, along))
    )
