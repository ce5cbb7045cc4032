# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints: knees, elbows and toes are hinges on the axis they really bend about, the rest are balls."""

from dataclasses import dataclass

import numpy as np

from ..geometry.angles import arctan2_exact
from ..geometry.quaternions import (
    Array,
    angle_between,
    conjugate,
    from_rotation_vector,
    multiply,
    normalize,
    rotate,
    to_rotation_vector,
)
from ..motion import Clip
from .anatomy import UP, normalize_vectors
from .body_measures import limb_end
from .limits import ball_range, hinge_range
from .model import Joint
from .plan import BodyPlan, PlannedLink

_HINGED = frozenset({"shin", "forearm", "toe"})
_BENDS = np.radians(5.0)  # a joint's spread over the clip that tells its axis
_ONE_WAY = 2.0  # how many times as much it must bend about that axis as about any other
_TELLS, _EXACT = np.radians(1.0), np.radians(0.5)  # less bending will do if there is hardly any other
_ONE_SIDE = 0.7  # how alike a limb's bends over time must be, from 0 (all ways) to 1 (one way)
_FAR = 0.75 * np.pi  # beyond this a ball's logarithm comes too near to half a turn


@dataclass(frozen=True, eq=False)
class FittedJoint:
    """A joint without its servo, and how its axis or zero was found."""

    joint: Joint
    why: str


def fit_joints(plan: BodyPlan, clip: Clip | None) -> list[FittedJoint]:
    """The joints of all links, the root's first."""
    tree = plan.tree
    fitted = [FittedJoint(Joint("free", tree.heads[plan.links[0].bone]), "root")]
    quat = None if clip is None else clip.world()[1]
    for link in plan.links[1:]:
        parent = plan.links[link.parent].bone
        pos = rotate(conjugate(tree.quats[parent]), tree.heads[link.bone] - tree.heads[parent])
        rest = multiply(conjugate(tree.quats[parent]), tree.quats[link.bone])
        # (T, 4) how the link turns in its parent link's frame
        turns = None if quat is None else multiply(conjugate(quat[:, parent]), quat[:, link.bone])
        fit = _hinge if link.role in _HINGED else _ball
        fitted.append(fit(plan, link, pos, rest, turns))
    return fitted


def mean_rotation(quats: Array) -> Array:
    """(4,) the rotation nearest to all of (T, 4), whatever their signs."""
    return np.asarray(np.linalg.eigh(quats.T @ quats)[1][:, -1])


def _twist_angle(quats: Array, axis: Array) -> Array:
    """(T,) radians of rotations (T, 4) about an axis (3,), what is off the axis left out, without jumps over time."""
    return np.unwrap(2.0 * arctan2_exact(quats[..., 1:] @ axis, quats[..., 0]), axis=0)


def _hinge(plan: BodyPlan, link: PlannedLink, pos: Array, rest: Array, turns: Array | None) -> FittedJoint:
    """A hinge that reads zero when the limb is straight (a toe: as at rest) and grows as it bends."""
    axis, why = _axis_by_build(plan, link)
    zero = rest
    found = None if turns is None else _axis_by_clip(turns, pos, _below(plan, link))
    if found is not None:
        zero, fitted = found
        axis, why = fitted * (1.0 if fitted @ axis >= 0.0 else -1.0), "bends about it in the clip"
    elif turns is not None:
        # Too little bending to tell the axis, but enough to tell what the joint is like besides.
        zero = _without_twist(turns, axis)
    zero = _straightened(plan, link, pos, rest, zero, axis)
    if found is not None and turns is not None and link.role != "toe":
        bends = np.angle(np.exp(1j * np.median(_twist_angle(multiply(conjugate(zero), turns), axis))))
        axis = -axis if bends < -np.radians(5.0) else axis
    return FittedJoint(Joint("hinge", pos, zero, axis, *hinge_range(link.role)), f"hinge: {why}")


def _axis_by_build(plan: BodyPlan, link: PlannedLink) -> tuple[Array, str]:
    """(3,) the axis in the link's frame by the rest pose: across the bend where there is one, else by anatomy."""
    tree, front = plan.tree, plan.measures.front
    start = tree.heads[link.bone]
    inverse = conjugate(tree.quats[link.bone])
    if link.role == "toe":
        return rotate(inverse, np.cross(front, UP)), "across the body"
    above = normalize_vectors(start - tree.heads[plan.links[link.parent].bone])
    below = normalize_vectors(limb_end(tree, plan.roles, link.role, link.side) - start)
    # A knee takes the shin back, an elbow the forearm to the front, up where the arm points to the front already.
    goal = -front if link.role == "shin" else front
    if abs(goal @ above) > 0.9:
        goal = UP
    anatomical = normalize_vectors(np.cross(above, goal))
    bend = np.cross(above, below)
    if np.linalg.norm(bend) > np.sin(np.radians(8.0)):
        bend = normalize_vectors(bend)
        backwards = link.role == "shin" and bend @ anatomical < 0.0 and not plan.measures.four_legged
        return rotate(inverse, -bend if backwards else bend), "across the bend at rest"
    return rotate(inverse, anatomical), "across the body"


def _below(plan: BodyPlan, link: PlannedLink) -> Array | None:
    """(3,) the way from a knee or elbow to the end of the shin or forearm, in the link's frame, of length one."""
    if link.role == "toe":
        return None
    end = limb_end(plan.tree, plan.roles, link.role, link.side) - plan.tree.heads[link.bone]
    return normalize_vectors(rotate(conjugate(plan.tree.quats[link.bone]), end))


def _axis_by_clip(turns: Array, above: Array, below: Array | None) -> tuple[Array, Array] | None:
    """Zero (4,) and axis (3,) in the link's frame that the clip bends about, None if it bends too little to tell.

    above: (3,) the limb before the joint, in the parent's frame. below: (3,) after it, in the link's; None for a toe.
    """
    middle = mean_rotation(turns)
    vectors = to_rotation_vector(multiply(conjugate(middle), turns))
    spread, axes = np.linalg.eigh(vectors.T @ vectors / len(vectors))
    third, second, first = np.sqrt(np.maximum(spread, 0.0))
    axis = axes[:, -1]
    if not (first > _TELLS and np.hypot(second, third) < _EXACT):
        # The bone turns about more than one axis, such as a forearm about itself: see how the limb is bent instead.
        bent = None if below is None else _axis_by_bend(turns, above, below)
        if bent is not None:
            axis = bent
        elif first < _BENDS or first < _ONE_WAY * second:
            return None
    return _without_twist(turns, axis), axis


def _axis_by_bend(turns: Array, above: Array, below: Array) -> Array | None:
    """(3,) the axis in the link's frame across the bends of a limb over time, None if it bends little or all ways."""
    across = np.cross(normalize_vectors(above), rotate(turns, below))
    mean = across.mean(0)
    if np.linalg.norm(mean) < max(np.sin(_BENDS), _ONE_SIDE * float(np.linalg.norm(across, axis=-1).mean())):
        return None
    own = rotate(conjugate(mean_rotation(turns)), mean)
    return normalize_vectors(own - own @ below * below)


def _without_twist(turns: Array, axis: Array) -> Array:
    """(4,) the mean of the rotations when their turning about the axis (in the link's frame) is taken off."""
    zero = mean_rotation(turns)
    for _ in range(3):  # taking off the twist moves the mean a little
        angle = _twist_angle(multiply(conjugate(zero), turns), axis)
        zero = mean_rotation(multiply(turns, from_rotation_vector(-angle[:, None] * axis)))
    return zero


def _straightened(plan: BodyPlan, link: PlannedLink, pos: Array, rest: Array, zero: Array, axis: Array) -> Array:
    """``zero`` turned about the axis to where the limb is straight; a toe's to where it is nearest to rest."""
    if link.role == "toe":
        angle = float(_twist_angle(multiply(conjugate(zero), rest)[None], axis)[0])
    else:
        below, above = _below(plan, link), rotate(conjugate(zero), pos)
        assert below is not None
        below, above = below - below @ axis * axis, above - above @ axis * axis
        angle = float(np.arctan2(np.cross(below, above) @ axis, below @ above))
    return multiply(zero, from_rotation_vector(angle * axis))


def _ball(plan: BodyPlan, link: PlannedLink, pos: Array, rest: Array, turns: Array | None) -> FittedJoint:
    """A ball whose zero is the middle of the joint's range, or of the clip's where that lies far off."""
    zero = _middle(plan, link, rest)
    why = "rest" if zero is rest else "the middle of its range"
    if turns is not None and (farthest := angle_between(zero, turns).max()) > _FAR:
        centre = _centre(turns)
        if angle_between(centre, turns).max() < farthest:
            zero, why = centre, "the middle of the clip, which goes far from the anatomical one"
    spine_joints = sum(each.role in ("spine", "chest") for each in plan.links)
    return FittedJoint(Joint("ball", pos, zero, max_angle=ball_range(link.role, spine_joints)), f"ball: zero at {why}")


def _centre(turns: Array) -> Array:
    """(4,) a rotation from which the farthest of (T, 4) is as near as can be."""
    centre = mean_rotation(turns)
    for step in range(1, 200):  # small steps towards whatever is farthest: Badoiu and Clarkson's minimal ball
        away = to_rotation_vector(multiply(conjugate(centre), turns))
        farthest = away[int(np.argmax(np.linalg.norm(away, axis=-1)))]
        centre = normalize(multiply(centre, from_rotation_vector(farthest / (step + 1.0))))
    return centre


def _middle(plan: BodyPlan, link: PlannedLink, rest: Array) -> Array:
    """(4,) a ball's zero in the parent's frame: rest, with a thigh or upper arm swung to the middle of its range."""
    measures = plan.measures
    if link.role not in ("thigh", "upper_arm") or measures.four_legged:
        return rest
    tree = plan.tree
    if link.role == "thigh":
        goal = normalize_vectors(measures.front - UP)
    else:
        side = measures.left if link.side == "L" else -measures.left
        raised = np.radians(70.0)
        goal = np.sin(raised) * normalize_vectors(measures.front + side) - np.cos(raised) * UP
    way = normalize_vectors(limb_end(tree, plan.roles, link.role, link.side) - tree.heads[link.bone])
    swing = normalize(np.concatenate([[1.0 + way @ goal], np.cross(way, goal)]))
    parent = conjugate(tree.quats[plan.links[link.parent].bone])
    return multiply(parent, multiply(swing, tree.quats[link.bone]))
