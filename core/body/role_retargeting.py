# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions brought onto another skeleton by the roles of its bones, whatever they are called and however they lie.

Each part turns in the world as the same part of the source does, from where it would be if the target stood as the
source does at rest. The way of the hips is scaled by the length of the legs, and so is the way of each foot: what
stands in the source stands in the result. Proportions stay the target's own.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import RigError
from ..geometry.quaternions import Array, angle_between, conjugate, from_rotation_vector, multiply, rotate, slerp
from ..motion import Clip
from ..motion.skeleton import to_world
from .four_legs import find_front_feet, lowest_height
from .leg_ik import find_legs, move_foot
from .model import BodyModel
from .poses import clip_of_pose, pose_of_clip
from .sagittal_plane import find_sagittal_plane
from .style_proposals import find_hind_legs, measure_hip_height

_HINT = "Choose files of characters that are alike, or give their bones roles in Body > Bones"
_LIMBS = ("thigh", "shin", "upper_arm", "forearm")  # turned from where they point at rest; the others stand alike
_ENDS = {"thigh": "shin", "shin": "foot", "upper_arm": "forearm", "forearm": "hand"}
_ALIKE_RAD = 0.02
_UP: Array = np.array([0.0, 0.0, 1.0])


def retarget_clip(source: BodyModel, clip: Clip, target: BodyModel) -> Clip:
    """The clip of the source's skeleton on the target's; refuses bodies that have no limbs in common.

    Bones of the target without a part in its body, and parts that the source lacks, stay as they are at rest; where
    both have the same bones that lie alike, all are copied.
    """
    _require_alike(source, target, clip.name)
    ratio = measure_hip_height(target) / measure_hip_height(source)
    pos, quat = clip.world()
    turns = (
        dict(enumerate(np.moveaxis(quat, 1, 0))) if _lie_alike(source, target) else _part_turns(source, target, quat)
    )
    moved = _place_bones(source, target, clip, turns, pos, ratio)
    return _place_feet(source, target, moved, pos, ratio)


def transfer_by_roles(source: BodyModel, clip: Clip, target: BodyModel) -> Clip:
    """The clip on the target's bones with no more than roles to go by: no foot is put where the source's stands.

    What the target cannot do of it, its physics has to make up for. Hinges in a row turn as their limb does, within
    their limits.
    """
    _require_legs(source, target, clip.name)
    ratio = _hip_height(target) / _hip_height(source)
    pos, quat = clip.world()
    turns = _part_turns(source, target, quat)
    moved = _place_bones(source, target, clip, turns, pos, ratio, -_lowest_at_rest(target))
    if not target.hinge_rows and not _has_detached(target):
        return moved
    qpos, _ = pose_of_clip(target, moved)
    return replace(clip_of_pose(target, moved, qpos, moved.fps, offsets="body"), name=clip.name, tags=clip.tags)


def _require_legs(source: BodyModel, target: BodyModel, name: str) -> None:
    """Refuse bodies that do not stand on as many legs, however their feet hang in their skeletons."""
    legs = []
    for body in (source, target):
        thighs = [link for link in body.links if link.role == "thigh"]
        legs.append(len(thighs) + len(find_front_feet(body)))
    if legs[0] != legs[1] or not legs[0]:
        raise RigError(f"'{name}' stands on {legs[0]} feet, and the other character on {legs[1]}", _HINT)


def _hip_height(body: BodyModel) -> float:
    """Metres from the ground to the hips, on straight legs where the skeleton tells how they hang together."""
    if find_hind_legs(body):
        return measure_hip_height(body)
    heights = body.skeleton.rest_world()[0][_hips(body), 2]
    return max(float(heights.mean()) - _lowest_at_rest(body), 1e-3)


def _lowest_at_rest(body: BodyModel) -> float:
    """Metres: how low the body's shapes reach at rest."""
    pos, quat = body.skeleton.rest_world()
    bones = [body.skeleton.index(link.bone) for link in body.links]
    return min(
        float(lowest_height(shape, pos[bone][None], quat[bone][None])[0])
        for bone, link in zip(bones, body.links, strict=True)
        for shape in link.shapes
    )


def _hips(body: BodyModel) -> list[int]:
    """The bones of its thighs."""
    return [body.skeleton.index(link.bone) for link in body.links if link.role == "thigh"]


def _has_detached(body: BodyModel) -> bool:
    """Whether a part hangs on another bone than its part does, as the feet of some control rigs do."""
    parents = body.skeleton.parents
    for link in body.links[1:]:
        bone, above = body.skeleton.index(link.bone), body.skeleton.index(body.links[link.parent].bone)
        while bone >= 0 and bone != above:
            bone = int(parents[bone])
        if bone < 0:
            return True
    return False


def _require_alike(source: BodyModel, target: BodyModel, name: str) -> None:
    legs = [len(find_hind_legs(body)) + len(find_front_feet(body)) for body in (source, target)]
    common = {(link.role, link.side) for link in source.links} & {(link.role, link.side) for link in target.links}
    if legs[0] != legs[1]:
        raise RigError(f"'{name}' stands on {legs[0]} feet, and the other character on {legs[1]}", _HINT)
    if not {("thigh", "L"), ("thigh", "R")} <= common:
        raise RigError(f"'{name}' has no bones with the same roles as the other character", _HINT)


def _lie_alike(source: BodyModel, target: BodyModel) -> bool:
    """Whether both have the same bones, turned alike at rest: then what one does the other can do as it is."""
    if not source.skeleton.same_bones(target.skeleton):
        return False
    return bool(angle_between(source.skeleton.rest_quat_wxyz, target.skeleton.rest_quat_wxyz).max() < _ALIKE_RAD)


@dataclass(frozen=True, eq=False)
class _Rest:
    """A body at rest: heads (B, 3) and rotations (B, 4) of its bones in the world, by role and side its bone."""

    heads: Array
    quats: Array
    bones: dict[tuple[str, str], int]
    trunk: tuple[int, ...]

    @classmethod
    def of(cls, body: BodyModel) -> "_Rest":
        heads, quats = body.skeleton.rest_world()
        named = [link for link in reversed(body.links) if link.role]
        bones = {(link.role, link.side): body.skeleton.index(link.bone) for link in named}
        trunk = tuple(body.skeleton.index(body.links[i].bone) for i in body.trunk)
        return cls(heads, quats, bones, trunk)

    def direction(self, role: str, side: str) -> Array:
        """(3,) where a limb's part points, of length one: to the next part, or along its bone where there is none."""
        end = self.bones.get((_ENDS[role], side))
        if end is None:
            return np.asarray(rotate(self.quats[self.bones[role, side]], np.array([0.0, 1.0, 0.0])))
        along = self.heads[end] - self.heads[self.bones[role, side]]
        return np.asarray(along / max(float(np.linalg.norm(along)), 1e-9))


def _part_turns(source: BodyModel, target: BodyModel, quat: Array) -> dict[int, Array]:
    """By bone of the target (T, 4) its rotation in the world, for all parts that the source has, too."""
    here, there = _Rest.of(source), _Rest.of(target)
    yaw = _facing_turn(source, target)
    found = {}
    for (role, side), bone in there.bones.items():
        if bone in there.trunk or (role, side) not in here.bones:
            continue
        own = here.bones[role, side]
        aligned = multiply(_align(here, there, role, side, yaw), multiply(yaw, there.quats[bone]))
        found[bone] = multiply(multiply(quat[:, own], conjugate(here.quats[own])), aligned)
    for place, bone in enumerate(there.trunk):
        at = place * (len(here.trunk) - 1) / max(len(there.trunk) - 1, 1)
        low = min(int(at), len(here.trunk) - 1)
        ends = [here.trunk[low], here.trunk[min(low + 1, len(here.trunk) - 1)]]
        both = [multiply(quat[:, own], conjugate(here.quats[own])) for own in ends]
        turned = slerp(both[0], both[1], np.full(len(quat), at - low))
        found[bone] = multiply(turned, multiply(yaw, there.quats[bone]))
    return found


def _facing_turn(source: BodyModel, target: BodyModel) -> Array:
    """(4,) the turn about the vertical after which the target faces at rest as the source does."""
    planes = [find_sagittal_plane(body) for body in (source, target)]
    angles = [0.0 if plane is None else float(np.arctan2(plane.normal[1], plane.normal[0])) for plane in planes]
    return from_rotation_vector((angles[0] - angles[1]) * _UP)


def _align(here: _Rest, there: _Rest, role: str, side: str, yaw: Array) -> Array:
    """(4,) the turn that lets a limb's part, turned by ``yaw``, point as the source's does at rest. Feet stay level."""
    part = "forearm" if role == "hand" else role
    if part not in _LIMBS or (part, side) not in here.bones or (part, side) not in there.bones:
        return np.array([1.0, 0.0, 0.0, 0.0])
    wanted, now = here.direction(part, side), there.direction(part, side)
    now = rotate(yaw, now)
    axis = np.cross(now, wanted)
    sine = float(np.linalg.norm(axis))
    angle = float(np.arctan2(sine, now @ wanted))
    return from_rotation_vector(axis / max(sine, 1e-9) * angle)


def _place_bones(
    source: BodyModel,
    target: BodyModel,
    clip: Clip,
    turns: dict[int, Array],
    pos: Array,
    ratio: float,
    lift: float = 0.0,
) -> Clip:
    """The target's bones turned, with the middle of its hips where the source's is, scaled.

    lift: metres that what holds the target's root is lifted by: some characters rest below the ground.
    """
    skeleton = target.skeleton
    heads = np.broadcast_to(skeleton.rest_pos, (len(clip), *skeleton.rest_pos.shape)).copy()
    local = np.broadcast_to(skeleton.rest_quat_wxyz, (len(clip), *skeleton.rest_quat_wxyz.shape)).copy()
    world = local.copy()
    for bone, parent in enumerate(skeleton.parents):
        above = world[:, parent] if parent >= 0 else np.broadcast_to([1.0, 0.0, 0.0, 0.0], local[:, bone].shape)
        world[:, bone] = turns[bone] if bone in turns else multiply(above, local[:, bone])
        local[:, bone] = multiply(conjugate(above), world[:, bone])
    hips = [_hips(body) for body in (source, target)]
    root = skeleton.index(target.links[0].bone)
    heads[:, skeleton.parents < 0, 2] += lift
    wanted = ratio * pos[:, hips[0]].mean(axis=1)
    gap = wanted - to_world(skeleton.parents, heads, local)[0][:, hips[1]].mean(axis=1)
    holder = skeleton.parents[root]
    heads[:, root] += gap if holder < 0 else rotate(conjugate(world[:, holder]), gap)
    return Clip(skeleton, clip.fps, heads, local, clip.name, clip.tags)


def _place_feet(source: BodyModel, target: BodyModel, clip: Clip, pos: Array, ratio: float) -> Clip:
    """The clip with ankles where the source's are, scaled, and as high above their soles as the target's are."""
    ankles = [_ankle_height(body) for body in (source, target)]
    ends = {_side_of(source, leg.links): leg for leg in find_legs(source, source.skeleton) if leg.links}
    for leg in find_legs(target, target.skeleton):
        key = _side_of(target, leg.links) if leg.links else ("", "")
        if key not in ends or key[0] != "foot":
            continue
        goal = ratio * (pos[:, ends[key].foot] - ankles[0] * _UP) + ankles[1] * _UP
        clip = move_foot(clip, leg, goal)
    return clip


def _side_of(body: BodyModel, links: tuple[int, ...]) -> tuple[str, str]:
    return body.links[links[0]].role, body.links[links[0]].side


def _ankle_height(body: BodyModel) -> float:
    """Metres from the sole to the ankle, the feet as at rest."""
    pos, _ = body.skeleton.rest_world()
    legs = find_hind_legs(body)
    along = [
        np.linalg.norm(pos[leg.knee] - pos[leg.hip]) + np.linalg.norm(pos[leg.foot] - pos[leg.knee]) for leg in legs
    ]
    return measure_hip_height(body) - float(np.mean(along))
