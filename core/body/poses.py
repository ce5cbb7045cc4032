# SPDX-License-Identifier: GPL-3.0-or-later
"""Between clips of bones and poses of a body, both ways; layouts as ``BodyModel`` says."""

import logging
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..errors import BadMotion
from ..geometry.angles import arctan2_exact
from ..geometry.differences import angular_velocity, velocity
from ..geometry.quaternions import (
    Array,
    angle_between,
    conjugate,
    from_rotation_vector,
    multiply,
    normalize,
    rotate,
    to_rotation_vector,
    unroll,
)
from ..motion import Clip, Tag
from ..motion.unsimulated_bones import copy_unsimulated_bones
from .hinge_rows import solve_hinge_row
from .model import BodyModel, Joint

_LOG = logging.getLogger(__name__)
_WORTH_SAYING = np.radians(3.0)
_JUMP = 1.0  # radians from frame to frame that no joint turns
# A ball above a hinge turns about itself so that the hinge points the right way; a radian of that is thought as bad as
# this many radians of pointing wrong.
_SURELY_LESS = 0.99  # of half a turn
_TWIST_COST = 0.3
_MOST_TWIST = np.radians(60.0)


@dataclass(frozen=True, eq=False)
class PoseLoss:
    """What a body cannot show of a clip.

    off_axis: (T, L) radians between a link's rotation and what the body makes of it: what a hinge cannot turn.
    off_place: (T, L) metres between a link's bone and where the body has it: hinges, stretching, moving merged bones.
    """

    links: tuple[str, ...]
    off_axis: Array
    off_place: Array

    @property
    def worst(self) -> dict[str, tuple[float, float]]:
        """By link the most it is off over the clip: (radians, metres)."""
        return {
            name: (float(angle), float(place))
            for name, angle, place in zip(self.links, self.off_axis.max(0), self.off_place.max(0), strict=True)
        }


def pose_of_clip(body: BodyModel, clip: Clip) -> tuple[Array, Array]:
    """Poses (T, nq) and velocities (T, nv) of the clip's frames.

    Balls are exact, and so are hinges where the bone turns about their axis only. Where it does not, hands and feet
    are kept in place as well as they can: a hinge points its limb the right way, the ball above it turns about itself
    for that if need be, and the ball below it makes up for the rotation. ``loss_of_clip`` tells what is lost.
    """
    pos, quat = _links_in(body, clip)
    qpos = np.empty((len(clip), body.nq))
    built = _fill(body, pos[:, 0], quat, qpos)
    off = angle_between(built, quat).max(0)
    if off.max() > _WORTH_SAYING:
        worst = int(np.argmax(off))
        bone, angle = body.links[worst].bone, np.degrees(off[worst])
        _LOG.info("'%s' turns up to %.1f degrees off its hinge in '%s'", bone, angle, clip.name)
    return qpos, velocity_of_pose(body, qpos, clip.dt_s)


def pose_of_links(body: BodyModel, root_pos: Array, quat: Array) -> Array:
    """(T, nq) poses with the root at (T, 3) and the links turned in the world as (T, L, 4), where they can."""
    qpos = np.empty((len(quat), body.nq))
    _fill(body, root_pos, quat, qpos)
    return qpos


def loss_of_clip(body: BodyModel, clip: Clip) -> PoseLoss:
    """What ``pose_of_clip`` loses of a clip."""
    pos, quat = _links_in(body, clip)
    qpos = np.empty((len(clip), body.nq))
    built = _fill(body, pos[:, 0], quat, qpos)
    placed, _ = link_transforms(body, qpos)
    names = tuple(link.bone for link in body.links)
    return PoseLoss(names, angle_between(built, quat), np.linalg.norm(placed - pos, axis=-1))


def velocity_of_pose(body: BodyModel, qpos: Array, dt_s: float) -> Array:
    """(T, nv) velocities of poses (T, nq) that are ``dt_s`` apart, by central differences."""
    qvel = np.empty((len(qpos), body.nv))
    for index, link in enumerate(body.links):
        own, rates = _columns(body, qpos, index), qvel[:, body.qvel_starts[index] : body.qvel_starts[index + 1]]
        if link.joint.kind == "hinge":
            rates[:] = velocity(own, dt_s)
            continue
        turn = own[:, -4:]
        rates[:, -3:] = rotate(conjugate(turn), angular_velocity(turn, dt_s))
        if link.joint.kind == "free":
            rates[:, :3] = velocity(own[:, :3], dt_s)
    return qvel


def targets_of_pose(body: BodyModel, qpos: Array) -> Array:
    """(T, nu) servo targets that hold the poses (T, nq): log(q) or an angle, without jumps over time.

    A ball that turns through half a turn from its zero goes on beyond pi instead of jumping to the other side.
    """
    targets = np.empty((len(qpos), body.nu))
    starts = body.qvel_starts - 6
    for index, link in enumerate(body.links[1:], start=1):
        own = _columns(body, qpos, index)
        value = own if link.joint.kind == "hinge" else _continuous(own)
        targets[:, starts[index] : starts[index + 1]] = value
    return targets


def link_transforms(body: BodyModel, qpos: Array) -> tuple[Array, Array]:
    """Where the links are: world positions (..., L, 3) in metres and rotations (..., L, 4) of poses (..., nq)."""
    shape = (*qpos.shape[:-1], len(body.links))
    pos, quat = np.empty((*shape, 3)), np.empty((*shape, 4))
    for index, link in enumerate(body.links):
        own = _columns(body, qpos, index)
        if link.parent < 0:
            pos[..., index, :], quat[..., index, :] = own[..., :3], normalize(own[..., 3:])
            continue
        parent = quat[..., link.parent, :]
        pos[..., index, :] = pos[..., link.parent, :] + rotate(parent, link.joint.pos)
        quat[..., index, :] = multiply(parent, multiply(link.joint.zero_quat_wxyz, _turn(link.joint, own)))
    return pos, quat


def clip_of_pose(
    body: BodyModel, source: Clip, qpos: Array, fps: float, *, offsets: Literal["source", "body"] = "source"
) -> Clip:
    """A clip of all bones in which the links move as in the poses (T, nq), ``fps`` a second.

    source: the clip that the poses follow, from its first frame on; held at its end if it is shorter. Bones that
    are not simulated keep their local animation from it; merged bones keep theirs to their link.
    offsets: 'source' places every link's bone to its parent link as the source does, stretching and moving clavicles
    included, so that the poses of a clip give back that clip. 'body' places it exactly where the simulation had it.
    """
    qpos = np.asarray(qpos, dtype=float)
    if qpos.ndim != 2 or qpos.shape[1] != body.nq or len(qpos) == 0:
        raise BadMotion(f"Poses of shape {qpos.shape} are not frames of {body.nq} numbers")
    own = _at(source, len(qpos), fps)
    was_pos, was_quat = own.world()
    pos, quat = was_pos.copy(), was_quat.copy()
    placed, turned = link_transforms(body, qpos)
    bones = [source.skeleton.index(link.bone) for link in body.links]
    for index, (bone, link) in enumerate(zip(bones, body.links, strict=True)):
        quat[:, bone] = turned[:, index]
        if link.parent < 0 or offsets == "body":
            pos[:, bone] = placed[:, index]
        else:
            holder = bones[link.parent]
            apart = rotate(conjugate(was_quat[:, holder]), was_pos[:, bone] - was_pos[:, holder])
            pos[:, bone] = pos[:, holder] + rotate(quat[:, holder], apart)
        change = multiply(quat[:, bone], conjugate(was_quat[:, bone]))
        for part in (source.skeleton.index(name) for name in link.merged):
            pos[:, part] = pos[:, bone] + rotate(change, was_pos[:, part] - was_pos[:, bone])
            quat[:, part] = multiply(change, was_quat[:, part])
    moved = Clip.from_world(source.skeleton, fps, pos, quat, source.name, own.tags)
    simulated = {name for link in body.links for name in (link.bone, *link.merged)}
    return copy_unsimulated_bones(own, moved, simulated)


def _links_in(body: BodyModel, clip: Clip) -> tuple[Array, Array]:
    """World heads (T, L, 3) and rotations (T, L, 4) of the links' bones."""
    if not clip.skeleton.same_bones(body.skeleton):
        raise BadMotion(f"Clip '{clip.name}' has other bones than the body", "Build a body for this clip's skeleton")
    pos, quat = clip.world()
    bones = [clip.skeleton.index(link.bone) for link in body.links]
    return pos[:, bones], quat[:, bones]


def _fill(body: BodyModel, root_pos: Array, quat: Array, qpos: Array) -> Array:
    """Fill poses (T, nq) from the links' world rotations (T, L, 4); returns the rotations that the poses have."""
    quat = _with_twist(body, quat)
    built = quat.copy()
    qpos[:, :3], qpos[:, 3:7] = root_pos, unroll(quat[:, 0])
    rows = {row[0]: row for row in body.hinge_rows}
    together = {index for row in rows.values() for index in row}
    for index, link in enumerate(body.links[1:], start=1):
        own = _columns(body, qpos, index)
        if index in together:
            if index in rows:  # parents come first, and nothing hangs between the hinges of a row
                _fill_row(body, rows[index], quat, qpos, built)
            continue
        held = multiply(built[:, link.parent], link.joint.zero_quat_wxyz)
        turn = multiply(conjugate(held), quat[:, index])
        if link.joint.kind == "ball":
            turn = np.where(turn[:1, :1] < 0.0, -turn, turn)
            own[:] = unroll(turn)
            continue
        angle = np.unwrap(_hinge_angle(link.joint.axis, turn, _limb(body, index)))
        own[:, 0] = angle - 2.0 * np.pi * np.round(np.median(angle) / (2.0 * np.pi))
        built[:, index] = multiply(held, _turn(link.joint, own))
    return built


def _fill_row(body: BodyModel, row: tuple[int, ...], quat: Array, qpos: Array, built: Array) -> None:
    """Fill in the hinges of a row together, so that its last link turns as it should."""
    holder = built[:, body.links[row[0]].parent]
    before = [quat[:, body.links[row[0]].parent], *(quat[:, index] for index in row[:-1])]
    first = []
    for index, above in zip(row, before, strict=True):
        joint = body.links[index].joint
        turn = multiply(conjugate(multiply(above, joint.zero_quat_wxyz)), quat[:, index])
        first.append(np.unwrap(2.0 * arctan2_exact(turn[:, 1:] @ joint.axis, turn[:, 0])))
    joints = [body.links[index].joint for index in row]
    angles = solve_hinge_row(joints, multiply(conjugate(holder), quat[:, row[-1]]), np.stack(first, axis=-1))
    for column, index in enumerate(row):
        joint = body.links[index].joint
        own = _columns(body, qpos, index)
        own[:, 0] = angles[:, column]
        above = built[:, body.links[index].parent]
        built[:, index] = multiply(multiply(above, joint.zero_quat_wxyz), _turn(joint, own))


def _limb(body: BodyModel, index: int) -> Array | None:
    """(3,) the way from a hinge to the next joint in the link's frame, of length one; None where there is no next."""
    below = next((link.joint.pos for link in body.links if link.parent == index), None)
    return None if below is None else below / max(float(np.linalg.norm(below)), 1e-12)


def _hinge_angle(axis: Array, turn: Array, limb: Array | None) -> Array:
    """(T,) the angle that points the limb as rotations (T, 4) do; without a limb, their turning about the axis."""
    if limb is None or np.linalg.norm(np.cross(axis, limb)) < 0.3:
        return 2.0 * arctan2_exact(turn[:, 1:] @ axis, turn[:, 0])
    across = limb - limb @ axis * axis
    pointed = rotate(turn, limb)
    return np.arctan2(pointed @ np.cross(axis, across), pointed @ across)


def _with_twist(body: BodyModel, quat: Array) -> Array:
    """The links' rotations (T, L, 4), with balls above hinges turned about themselves to where the hinge can point."""
    turned = quat.copy()
    turning = {index for index, link in enumerate(body.links) if link.joint.kind == "ball"}
    turning |= {row[-1] for row in body.hinge_rows if len(row) > 2}
    for index, link in enumerate(body.links):
        limb = _limb(body, index)
        if link.joint.kind != "hinge" or limb is None or link.parent not in turning:
            continue
        along = link.joint.pos / max(float(np.linalg.norm(link.joint.pos)), 1e-12)
        wanted = rotate(multiply(conjugate(quat[:, link.parent]), quat[:, index]), limb)
        twist = _twist_for(link.joint, along, limb, wanted)
        turned[:, link.parent] = multiply(quat[:, link.parent], from_rotation_vector(twist[:, None] * along))
    return turned


def _twist_for(joint: Joint, along: Array, limb: Array, wanted: Array) -> Array:
    """(T,) radians about ``along`` (3,) that the parent must turn for the hinge to point its limb to ``wanted`` (T, 3).

    All in the parent's frame. The part along ``along`` is the hinge's alone to reach; of the two angles that do, the
    nearer is taken, rather within its range. Nearly straight, hardly any twist is asked for: it would spin.
    """
    zero, axis = joint.zero_quat_wxyz, joint.axis
    across = limb - limb @ axis * axis
    # along . (fixed + cos(angle) * first + sin(angle) * second) = along . wanted
    fixed, first, second = (along @ rotate(zero, v) for v in (limb @ axis * axis, across, np.cross(axis, across)))
    reach = float(np.hypot(first, second))
    if reach < 0.1:
        return np.zeros(len(wanted))
    offset = np.arccos(np.clip((wanted @ along - fixed) / reach, -1.0, 1.0))
    middle = float(np.arctan2(second, first))
    seen = rotate(conjugate(zero), wanted)
    direct = np.arctan2(seen @ np.cross(axis, across), seen @ across)
    both = np.stack([middle + offset, middle - offset])
    both += 2.0 * np.pi * np.round((direct - both) / (2.0 * np.pi))
    outside = np.maximum(np.maximum(joint.lower - both, both - joint.upper), 0.0)
    angle = np.take_along_axis(both, np.argmin(np.abs(both - direct) + outside, axis=0)[None], axis=0)[0]
    pointed = rotate(multiply(zero, from_rotation_vector(angle[:, None] * axis)), limb)
    sine = np.cross(pointed, wanted) @ along
    cosine = np.sum(pointed * wanted, -1) - (pointed @ along) * (wanted @ along)
    # The least of (how far the limb then points wrong)² + (_TWIST_COST * twist)².
    bend = np.sum(np.cross(wanted, along) ** 2, axis=-1)
    return np.clip(np.arctan2(sine, cosine) * bend / (bend + _TWIST_COST**2), -_MOST_TWIST, _MOST_TWIST)


def _columns(body: BodyModel, qpos: Array, index: int) -> Array:
    """A view of a link's own coordinates in poses (..., nq)."""
    return qpos[..., body.qpos_starts[index] : body.qpos_starts[index + 1]]


def _turn(joint: Joint, own: Array) -> Array:
    """(..., 4) the joint's own rotation of its coordinates (..., 1 or 4)."""
    return from_rotation_vector(own * joint.axis) if joint.kind == "hinge" else normalize(own)


def _continuous(turns: Array) -> Array:
    """Rotation vectors (T, 3) of rotations (T, 4), each the one of all equal ones nearest to the one before.

    After a jump of the rotation itself, such as a dropout, they begin again within half a turn.
    """
    found = to_rotation_vector(turns)
    angles = np.linalg.norm(found, axis=-1)
    along = np.sum(found[:-1] * found[1:], axis=-1) / np.maximum(angles[1:], 1e-9)
    if np.all(np.abs(along - angles[1:]) < _SURELY_LESS * np.pi):
        return found  # none is more than half a turn from the one before
    jumps = angle_between(turns[:-1], turns[1:]) > _JUMP
    for i in range(1, len(found)):
        angle = float(np.linalg.norm(found[i]))
        if angle > 1e-9 and not jumps[i - 1]:
            axis = found[i] / angle
            whole = round((float(found[i - 1] @ axis) - angle) / (2.0 * np.pi))
            found[i] += 2.0 * np.pi * whole * axis
    return found


def _at(source: Clip, count: int, fps: float) -> Clip:
    """``count`` frames of the source at another rate, held at its end."""
    if count == len(source) and fps == source.fps:
        return source
    pos, quat = source.sample(np.arange(count) / fps)
    tags = (Tag(t.name, t.start, min(t.stop, count)) for t in source.resample(fps).tags if t.start < count)
    return Clip(source.skeleton, fps, pos, quat, source.name, tuple(tags))
