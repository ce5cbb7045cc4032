# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms that cut into the floor: they are raised at the shoulder, for lifting the whole body would leave it hovering."""

from dataclasses import replace

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip
from .clearance import SOFT_M, floor_height, link_clearances, upper_envelope
from .model import BodyModel

# An arm that points down more steeply than this carries the body; then it is the body that is too low.
_STEEP = np.radians(60.0)
_MOST_TURN = np.radians(50.0)
_ROUNDS = 4
_NEAR_M = 0.05
_UP: Array = np.array([0.0, 0.0, 1.0])


def raise_arms(body: BodyModel, clip: Clip) -> Clip:
    """The clip with arms that no longer cut into its floor, as far as that can be had by turning shoulders."""
    floor = floor_height(body, clip)
    for shoulder in (index for index, link in enumerate(body.links) if link.role == "upper_arm"):
        clip = _raised(body, clip, shoulder, floor)
    return clip


def _raised(body: BodyModel, clip: Clip, shoulder: int, floor: float) -> Clip:
    """The clip with one arm raised; ``shoulder`` is the index of its first link."""
    arm = [shoulder]
    for index in range(shoulder + 1, len(body.links)):
        if body.links[index].parent in arm:
            arm.append(index)
    if not (_deep(body, clip, arm, floor) > 0.0).any():
        return clip
    bone = clip.skeleton.index(body.links[shoulder].bone)
    pos, quat = clip.world()
    away = _lowest(body, clip, arm) - pos[:, bone]
    aside = np.linalg.norm(away[:, :2], axis=-1)
    below = np.arctan2(-away[:, 2], aside)
    # Above level there is nothing to be had: then it is the shoulder that is in the floor.
    most = np.where(below > _STEEP, 0.0, np.clip(below, 0.0, _MOST_TURN))
    axis = np.cross(away, _UP) / np.maximum(aside, 1e-9)[:, None]
    angle, moved = np.zeros(len(clip)), clip
    for _ in range(_ROUNDS):
        angle = np.clip(angle + _deep(body, moved, arm, floor) / np.maximum(aside, _NEAR_M), 0.0, most)
        moved = _turned(clip, bone, quat, axis * angle[:, None])
    return _turned(clip, bone, quat, axis * upper_envelope(angle, clip.fps)[:, None])


def _deep(body: BodyModel, clip: Clip, links: list[int], floor: float) -> Array:
    """(T,) metres that the deepest of some links is in the floor; negative above it."""
    return np.asarray(floor - SOFT_M - link_clearances(body, clip)[:, links].min(axis=1))


def _lowest(body: BodyModel, clip: Clip, links: list[int]) -> Array:
    """(T, 3) metres: where the far ends of some links are, the lower the more, so that it never jumps among them."""
    pos, quat = clip.world()
    bones = [clip.skeleton.index(body.links[link].bone) for link in links]
    along = clip.skeleton.lengths[bones, None] * [0.0, 1.0, 0.0]
    ends = pos[:, bones] + rotate(quat[:, bones], np.broadcast_to(along, (len(clip), len(bones), 3)))
    weight = np.exp((ends[..., 2].min(axis=1, keepdims=True) - ends[..., 2]) / _NEAR_M)[..., None]
    return np.asarray(np.sum(weight * ends, axis=1) / np.sum(weight, axis=1))


def _turned(clip: Clip, bone: int, quat: Array, by: Array) -> Clip:
    """The clip with a bone turned by rotation vectors (T, 3) in the world; quat: (T, B, 4) as it is."""
    local = np.array(clip.local_quat_wxyz)
    some = np.any(by != 0.0, axis=-1)  # the others stay to the bit
    turned = multiply(from_rotation_vector(by[some]), quat[some, bone])
    parent = int(clip.skeleton.parents[bone])
    local[some, bone] = turned if parent < 0 else multiply(conjugate(quat[some, parent]), turned)
    return replace(clip, local_quat_wxyz=local)
