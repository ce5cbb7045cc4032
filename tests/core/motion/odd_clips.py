# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips as people have them: with poses and frames that are no part of the motion."""

import numpy as np

from sinew.core.geometry.quaternions import from_rotation_vector, multiply, rotate
from sinew.core.motion import Clip


def of_frames(clip: Clip, pos, quat) -> Clip:
    return Clip(clip.skeleton, clip.fps, np.asarray(pos), np.asarray(quat), clip.name)


def posed(clip: Clip, arms_down_deg: float = 0.0, at=(3.0, 1.0)):
    """Local places and rotations of the rest pose somewhere else, the arms lowered by so much from a T-pose."""
    skeleton = clip.skeleton
    pos, quat = np.array(skeleton.rest_pos), np.array(skeleton.rest_quat_wxyz)
    pos[0, :2] = at
    pos[0, 2] = clip.local_pos[:, 0, 2].mean()
    world = skeleton.rest_world()[1]
    for side in "LR":
        bone = skeleton.index(f"upper_arm.{side}")
        parent = world[skeleton.parents[bone]]
        along = rotate(world[bone], np.array([0.0, 1.0, 0.0]))
        level = np.arctan2(along[2], np.hypot(along[0], along[1]))
        wanted = -np.radians(arms_down_deg) - level
        sign = 1.0 if along[0] < 0 else -1.0
        turn = from_rotation_vector(np.array([0.0, sign * wanted, 0.0]))
        new = multiply(turn, world[bone])
        quat[bone] = multiply(parent * np.array([1.0, -1.0, -1.0, -1.0]), new)
    return pos, quat


def with_pose(clip: Clip, frames: int, *, at_end: bool = False, **pose) -> Clip:
    """The clip with so many frames of a calibration pose before or after it."""
    pos, quat = (np.repeat(part[None], frames, axis=0) for part in posed(clip, **pose))
    order = slice(None, None, -1 if at_end else 1)
    return of_frames(
        clip,
        np.concatenate([pos, clip.local_pos][order]),
        np.concatenate([quat, clip.local_quat_wxyz][order]),
    )


def teleported(clip: Clip, frame: int, by=(2.0, -1.0, 0.0), turn_deg: float = 0.0) -> Clip:
    """The clip that goes on elsewhere from a frame on."""
    pos, quat = np.array(clip.local_pos), np.array(clip.local_quat_wxyz)
    turn = from_rotation_vector(np.array([0.0, 0.0, np.radians(turn_deg)]))
    pos[frame:, 0] = rotate(turn, pos[frame:, 0]) + by
    quat[frame:, 0] = multiply(turn, quat[frame:, 0])
    return of_frames(clip, pos, quat)


def frozen(clip: Clip, frames: int) -> Clip:
    """The clip whose last frame is there so many times more."""
    pos, quat = clip.local_pos, clip.local_quat_wxyz
    return of_frames(
        clip,
        np.concatenate([pos, np.repeat(pos[-1:], frames, axis=0)]),
        np.concatenate([quat, np.repeat(quat[-1:], frames, axis=0)]),
    )
