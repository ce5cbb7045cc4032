# SPDX-License-Identifier: GPL-3.0-or-later
"""What a clip probably is as a skill, so that the animator has less to say."""

import numpy as np

from ...body.anatomy import SkeletonTree
from ...body.roles import find_roles
from ...errors import RigError
from ...geometry.quaternions import Array
from ...motion import Clip
from ...motion.loops import is_cyclic, loop_clip
from ...motion.repair import repair_clip
from ...motion.trim import find_trim

# How high the bones are above the lowest, as a mean. Who lies has less than this share of what they have at the end;
# who stands there has nearly as much as a skeleton that stands at rest, which may have its arms up.
_LYING, _STANDING = 0.5, 0.65
_TRAVELS_M_S = 0.5
# Half a cycle later the other foot must be where this one was, by this share of how far it swings.
_TAKES_TURNS = 0.35


def guess_motion_kind(clip: Clip) -> str:
    """'rise' for who begins lying and ends standing, 'cycle' for what ends as it began, else 'once'."""
    clip = find_trim(clip).cut_clip(clip)  # some captures begin with a pose that is no part of them
    pos, _ = repair_clip(clip)[0].world()
    first, last = (_height(heads) for heads in pos[[0, -1]])
    if first < _LYING * last and last > _STANDING * _height(clip.skeleton.rest_world()[0]):
        return "rise"
    return "cycle" if is_cyclic(clip) else "once"


def guess_gait(clip: Clip) -> bool:
    """Whether it is a cycle that travels, in which each foot does half a cycle later what the other one did."""
    if guess_motion_kind(clip) != "cycle":
        return False
    pos, _ = clip.world()
    try:
        roles = find_roles(SkeletonTree.of(clip.skeleton), clip)
    except RigError:  # no legs that could take turns
        return False
    way = (pos[-1, roles.pelvis] - pos[0, roles.pelvis])[:2]
    if np.linalg.norm(way) < _TRAVELS_M_S * clip.duration_s:
        return False
    left, right = (_swing(clip, roles.pelvis, roles.limbs.get(("foot", s), roles.limbs["shin", s]), way) for s in "LR")
    half = len(left) // 2
    off = np.sqrt(np.mean(np.sum((left - np.roll(right, half, axis=0)) ** 2, axis=-1)))
    swing = np.sqrt(np.mean(np.sum((left - left.mean(0)) ** 2, axis=-1)))
    return bool(off < _TAKES_TURNS * swing)


def _height(heads: Array) -> float:
    """Metres above the lowest of the bones' heads (B, 3), as a mean."""
    return float(np.mean(heads[:, 2] - heads[:, 2].min()))


def _swing(clip: Clip, pelvis: int, foot: int, way: Array) -> Array:
    """(T - 1, 2) metres that a foot is ahead of the pelvis and above the floor, along ``way`` (2,), over one cycle."""
    pos, _ = loop_clip(clip, 2).world()
    cycle = pos[len(clip) - 1 : -1]
    ahead = (cycle[:, foot] - cycle[:, pelvis])[:, :2] @ (way / np.linalg.norm(way))
    return np.stack([ahead, cycle[:, foot, 2]], axis=1)
