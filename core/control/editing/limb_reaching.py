# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet that reach a point at a key moment: the root is placed so that they can, the limb does the rest."""

from dataclasses import dataclass, replace

import numpy as np

from ...body import BodyModel
from ...body.foot_correction import smootherstep
from ...body.leg_ik import STRAIGHT, turn_between
from ...body.model import Link
from ...errors import BadSettings
from ...geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ...motion import Clip
from ...motion.skeleton import to_world
from .constraints import FrameNumbers, Reach

_LIMBS = (("thigh", "shin", ("foot", "toe")), ("upper_arm", "forearm", ("hand",)))
_REACHED_M = 0.01
_STRAIGHT_ENOUGH = 0.35  # sine of the bend below which the hinge has a say in how a limb bends
_ROUNDS = 4  # of inverse kinematics: knees bend about axes that are not quite square to the limb


@dataclass(frozen=True, eq=False)
class Limb:
    """Bones of a limb by index, and the point of it that reaches.

    end: the hand's or foot's bone, which keeps its rotation in the world; the lower bone's own where there is none.
    point: (3,) metres in the end's frame: the middle of a hand or foot, the tip of a limb without.
    axis: (3,) the elbow's or knee's, in the lower bone's frame.
    """

    name: str
    upper: int
    lower: int
    end: int
    point: Array
    axis: Array

    @property
    def has_end(self) -> bool:
        """Whether it has a hand or foot."""
        return self.end != self.lower


def find_limb(body: BodyModel, bone: str) -> Limb:
    """The limb that ends in a bone, given by its name or by role and side; refuses what is no hand or foot."""
    known = {}
    for upper, lower, ends in _LIMBS:
        for side in ("L", "R"):
            chain = [_link(body, role, side) for role in (upper, lower)]
            if chain[0] is None or chain[1] is None:
                continue
            end = _link(body, ends[0], side)
            limb = _make_limb(body, chain[0], chain[1], end)
            for name in (limb.name, f"{ends[0]}.{side}"):
                known[name] = limb
            for link in body.links:
                if link.side == side and link.role in ends:
                    known |= dict.fromkeys((link.bone, *link.merged), limb)
            known |= dict.fromkeys(chain[1].merged if end is None else (), limb)
    if bone in known:
        return known[bone]
    names = sorted({limb.name for limb in known.values()})
    raise BadSettings(
        f"'{bone}' is no hand or foot, so it cannot reach",
        f"Choose one of: {', '.join(names)}" if names else "Give bones a role in the Body panel",
    )


def _link(body: BodyModel, role: str, side: str) -> Link | None:
    return next((link for link in body.links if link.role == role and link.side == side), None)


def _make_limb(body: BodyModel, upper: Link, lower: Link, end: Link | None) -> Limb:
    skeleton = body.skeleton
    last = lower if end is None else end
    bone = skeleton.index(last.bone)
    length = float(skeleton.lengths[bone]) * (1.0 if end is None else 0.5)
    axis = np.array(lower.joint.axis)
    if lower.joint.kind == "hinge" and -lower.joint.lower > lower.joint.upper:
        axis = -axis
    point = np.array([0.0, length, 0.0])
    return Limb(last.bone, skeleton.index(upper.bone), skeleton.index(lower.bone), bone, point, axis)


def limb_point(clip: Clip, limb: Limb) -> Array:
    """(T, 3) metres: where the point of the limb that reaches is."""
    pos, quat = clip.world()
    return np.asarray(pos[:, limb.end] + rotate(quat[:, limb.end], np.broadcast_to(limb.point, pos[:, 0].shape)))


def place_to_reach(clip: Clip, frame: int, limb: Limb, root: Array, turn: float, target: Array) -> Array:
    """(2,) metres: where the root has to be for the limb to reach a target (3,), the pose turned about it by ``turn``.

    clip: before it is turned, root: (2,) where its root is in that frame. The limb's end comes below or above the
    target as it is posed; where the limb is too short for that, the root comes nearer.
    """
    pos, _ = clip.world()
    cosine, sine = np.cos(turn), np.sin(turn)
    matrix = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    base = np.array([*root, 0.0])
    hip, tip = matrix @ (pos[frame, limb.upper] - base), matrix @ (limb_point(clip, limb)[frame] - base)
    joint = matrix @ (_wrist(clip, limb, pos)[frame] - base)
    place = np.array([*(target - tip)[:2], 0.0])
    away = (target - tip + joint) - (place + hip)
    length = _length(clip, limb, pos)[frame]
    if np.linalg.norm(away) > length and abs(away[2]) < length:
        level = away[:2] / max(float(np.linalg.norm(away[:2])), 1e-9)
        place[:2] += away[:2] - level * np.sqrt(length**2 - away[2] ** 2)
    return np.asarray(place[:2])


def reach_target(
    clip: Clip, limb: Limb, reach: Reach, frame: int, edges: tuple[float, float], numbers: FrameNumbers
) -> Clip:
    """The clip with the limb bent so that it is at its target in a frame; before and after it comes and goes smoothly.

    edges: how many frames before and after it that takes. Refuses a target that is out of reach.
    """
    frames = np.arange(len(clip))
    away = np.where(frames < frame, (frame - frames) / edges[0], (frames - frame) / edges[1])
    weight = 1.0 - smootherstep(away)
    target, moved, shift = np.array(reach.target), clip, np.zeros(3)
    for _ in range(_ROUNDS):
        shift = shift + target - limb_point(moved, limb)[frame]
        moved = _bend(clip, limb, weight[:, None] * shift)
    missed = float(np.linalg.norm(limb_point(moved, limb)[frame] - target))
    if missed > _REACHED_M:
        raise BadSettings(
            f"'{reach.bone}' is {max(100.0 * missed, 1.0):.0f} cm short of its target "
            f"at frame {numbers.source(reach.frame)}",
            "Move the target nearer, choose another key moment, or leave out the place: the character goes there",
        )
    return moved


def _wrist(clip: Clip, limb: Limb, pos: Array) -> Array:
    """(T, 3) metres: where the two bones of the limb end."""
    return np.asarray(pos[:, limb.end] if limb.has_end else limb_point(clip, limb))


def _length(clip: Clip, limb: Limb, pos: Array) -> Array:
    """(T,) metres: how far from its beginning the two bones of the limb can end."""
    end = _wrist(clip, limb, pos)
    upper = np.linalg.norm(pos[:, limb.lower] - pos[:, limb.upper], axis=-1)
    return np.asarray(STRAIGHT * (upper + np.linalg.norm(end - pos[:, limb.lower], axis=-1)))


def _bend(clip: Clip, limb: Limb, shift: Array) -> Clip:
    """The clip with the end of the limb moved by ``shift`` (T, 3); frames that are not moved keep every bit."""
    parents, local = clip.skeleton.parents, np.array(clip.local_quat_wxyz)
    pos, quat = clip.world()
    moved = np.flatnonzero(np.linalg.norm(shift, axis=-1) > 1e-9)
    end = _wrist(clip, limb, pos)[moved]
    pos, quat = pos[moved], quat[moved]
    upper, lower = pos[:, limb.lower] - pos[:, limb.upper], end - pos[:, limb.lower]
    axis = rotate(quat[:, limb.lower], np.broadcast_to(limb.axis, upper.shape))
    bend, turn = _bend_and_turn(upper, lower, axis, end + shift[moved] - pos[:, limb.upper])
    wanted = {
        limb.upper: multiply(turn, quat[:, limb.upper]),
        limb.lower: multiply(turn, multiply(bend, quat[:, limb.lower])),
    }
    if limb.has_end:
        wanted[limb.end] = quat[:, limb.end]
    for bone, turned in wanted.items():
        above = to_world(parents, clip.local_pos[moved], local[moved])[1][:, parents[bone]]
        local[moved, bone] = multiply(conjugate(above), turned)
    return replace(clip, local_quat_wxyz=local)


def _bend_and_turn(upper: Array, lower: Array, axis: Array, goal: Array) -> tuple[Array, Array]:
    """(T, 4) each, in the world: what the lower bone is bent by, and then the whole limb turned by, to end at ``goal``.

    upper, lower: (T, 3) metres along the bones. axis: (T, 3) the hinge's, goal: (T, 3) from the limb's beginning. It
    bends in the plane that it is bent in already: a captured elbow turns about more than its hinge. A straight limb
    has no such plane, and bends about the hinge.
    """
    lengths = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
    along = upper / lengths[0][:, None]
    normal = np.cross(upper, lower) / (lengths[0] * lengths[1])[:, None]
    normal = normal + np.maximum(_STRAIGHT_ENOUGH - np.linalg.norm(normal, axis=-1, keepdims=True), 0.0) * axis
    normal = normal - np.sum(normal * along, -1, keepdims=True) * along
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
    now = np.arctan2(np.sum(np.cross(upper, lower) * normal, -1), np.sum(upper * lower, -1))
    far = np.clip(np.linalg.norm(goal, axis=-1), np.abs(lengths[0] - lengths[1]) + 1e-6, STRAIGHT * sum(lengths))
    cosine = (far**2 - lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * lengths[0] * lengths[1])
    bend = from_rotation_vector(normal * (np.arccos(np.clip(cosine, -1.0, 1.0)) - now)[:, None])
    return bend, turn_between(upper + rotate(bend, lower), goal)
