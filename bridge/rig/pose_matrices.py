# SPDX-License-Identifier: GPL-3.0-or-later
"""From a take to pose matrices at scene frames: the inverse of what ``rig_reader`` does. Nothing here needs Blender."""

import numpy as np

from ...core.geometry.quaternions import Array, conjugate, from_matrix, multiply, to_matrix
from ...core.motion import Take
from .rig_reader import RigMotion, rotation_of


def resample_to_scene(take: Take, rig: RigMotion) -> tuple[Array, Array, Array]:
    """World positions (T, B, 3) in metres, rotations (T, B, 4), stretches (T, B, 3, 3), one a scene frame."""
    motion = take.motion.resample(rig.scene_fps, end="hold")
    pos, quat = motion.world()
    if take.own_clock:  # no frame of the source could say how a bone is stretched
        return pos, quat, np.broadcast_to(np.eye(3), (*pos.shape, 3))
    times_s = take.source_time(np.arange(len(motion)) / rig.scene_fps)
    place = np.clip(times_s * rig.clip.fps, 0, len(rig.bone_stretch) - 1)
    low = place.astype(int)
    high = np.minimum(low + 1, len(rig.bone_stretch) - 1)
    part = (place - low)[:, None, None, None]
    order = [rig.clip.skeleton.index(name) for name in motion.skeleton.names]
    stretch = (rig.bone_stretch[low] * (1.0 - part) + rig.bone_stretch[high] * part)[:, order]
    return pos, quat, stretch


def pose_matrices(matrix_world: Array, pos: Array, quat: Array, stretch: Array) -> Array:
    """(T, B, 4, 4) armature-space pose matrices.

    matrix_world: (T, 4, 4) where the armature stands, (1, 4, 4) if it stays. pos: (T, B, 3) in Blender units.
    """
    inverse = np.linalg.inv(matrix_world)
    object_quat = from_matrix(rotation_of(matrix_world[:, :3, :3]))
    pose = np.zeros((*pos.shape[:2], 4, 4))
    pose[..., 3, 3] = 1.0
    pose[..., :3, 3] = np.einsum("tij,tbj->tbi", inverse[:, :3, :3], pos) + inverse[:, None, :3, 3]
    pose[..., :3, :3] = to_matrix(multiply(conjugate(object_quat)[:, None], quat)) @ stretch
    return pose
