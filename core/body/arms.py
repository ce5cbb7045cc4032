# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms that cut into the floor: they are raised at the shoulder, for lifting the whole body would leave it hovering."""

from dataclasses import replace

import numpy as np

from ..geometry.quaternions import Array, conjugate, from_rotation_vector, multiply, rotate
from ..motion import Clip
from .clearance import SOFT_M, clearances, envelope, floor_height
from .model import BodyModel

# An arm that points down more steeply than this carries the body; then it is the body that is too low.
_STEEP = np.sin(np.radians(60.0))
_MOST_TURN = np.radians(50.0)
_ROUNDS = 4
_NEAR_M = 0.05
_UP: Array = np.array([0.0, 0.0, 1.0])


def arms_raised(body: BodyModel, clip: Clip) -> Clip:
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
    deep = _deep(body, clip, arm, floor)
    if not deep.any():
        return clip
    bone = clip.skeleton.index(body.links[shoulder].bone)
    pos, quat = clip.world()
    end = clip.skeleton.index(body.links[arm[-1]].bone)
    tip = pos[:, end] + rotate(quat[:, end], np.broadcast_to([0.0, clip.skeleton.lengths[end], 0.0], (len(clip), 3)))
    away = tip - pos[:, bone]
    aside = np.linalg.norm(away[:, :2], axis=-1)
    carries = -away[:, 2] > _STEEP * np.linalg.norm(away, axis=-1)
    axis = np.cross(away, _UP)
    axis /= np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-9)
    angle = np.zeros(len(clip))
    moved = clip
    for _ in range(_ROUNDS):
        need = np.where(carries, 0.0, _deep(body, moved, arm, floor)) / np.maximum(aside, _NEAR_M)
        angle = np.minimum(angle + need, _MOST_TURN)
        moved = _turned(clip, bone, quat, from_rotation_vector(axis * angle[:, None]))
    return _turned(clip, bone, quat, from_rotation_vector(axis * envelope(angle, clip.fps)[:, None]))


def _deep(body: BodyModel, clip: Clip, links: list[int], floor: float) -> Array:
    """(T,) metres that the deepest of some links is in the floor."""
    return np.maximum(floor - SOFT_M - clearances(body, clip)[:, links].min(axis=1), 0.0)


def _turned(clip: Clip, bone: int, quat: Array, turn: Array) -> Clip:
    """The clip with a bone turned by ``turn`` (T, 4) in the world; quat: (T, B, 4) as it is."""
    local = np.array(clip.local_quat_wxyz)
    parent = int(clip.skeleton.parents[bone])
    above = conjugate(quat[:, parent]) if parent >= 0 else np.broadcast_to([1.0, 0.0, 0.0, 0.0], turn.shape)
    local[:, bone] = multiply(above, multiply(turn, quat[:, bone]))
    return replace(clip, local_quat_wxyz=local)
