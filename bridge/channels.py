# SPDX-License-Identifier: GPL-3.0-or-later
"""From pose matrices to the values of a bone's channels: location, rotation in its own mode, scale."""

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ..core.geometry.quaternions import Array, from_matrix, without_flips
from .rig_reader import rotation_of


def basis_matrices(bone: bpy.types.Bone, pose: Array, parent_pose: Array | None) -> Array:
    """(T, 4, 4) what the bone's own channels must hold to reach ``pose`` (T, 4, 4, armature space).

    parent_pose: (T, 4, 4) of the parent, None for a root.
    """
    rest = np.array(bone.matrix_local)
    if bone.parent is None and bone.use_local_location:
        return np.linalg.inv(rest) @ pose
    inherits_all = bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location
    if bone.parent is not None and parent_pose is not None and inherits_all:
        parent_rest = np.array(bone.parent.matrix_local)
        return np.linalg.inv(parent_pose @ np.linalg.inv(parent_rest) @ rest) @ pose
    # The rarer ways of inheriting are Blender's to know; its own conversion is exact but goes frame by frame.
    basis = np.empty_like(pose)
    for i, matrix in enumerate(pose):
        parents = {}
        if bone.parent is not None and parent_pose is not None:
            parents = {"parent_matrix": Matrix(parent_pose[i]), "parent_matrix_local": bone.parent.matrix_local}
        basis[i] = bone.convert_local_to_pose(Matrix(matrix), bone.matrix_local, invert=True, **parents)
    return basis


def channel_values(bone: bpy.types.PoseBone, basis: Array) -> dict[str, Array]:
    """Channel name to values (T, n) for the bone's rotation mode; a connected bone has no location."""
    axes = basis[:, :3, :3]
    scale = np.linalg.norm(axes, axis=1)
    scale[:, 2] *= np.where(np.linalg.det(axes) < 0, -1.0, 1.0)
    values = {"scale": scale}
    if not (bone.bone.use_connect and bone.parent is not None):
        values["location"] = basis[:, :3, 3]
    return values | rotation_values(bone.rotation_mode, from_matrix(rotation_of(axes)))


def rotation_values(mode: str, quats: Array) -> dict[str, Array]:
    """The channel of this rotation mode and its values (T, n) for rotations (T, 4), without jumps."""
    quats = without_flips(quats)
    if mode == "QUATERNION":
        return {"rotation_quaternion": quats}
    if mode == "AXIS_ANGLE":
        return {"rotation_axis_angle": _axis_angles(quats)}
    return {"rotation_euler": _eulers(quats, mode)}


def _eulers(quats: Array, order: str) -> Array:
    """(T, 3) Euler angles, each nearest to those of the frame before."""
    eulers = []
    for quat in quats:
        eulers.append(Quaternion(quat).to_euler(order, *eulers[-1:]))
    return np.array(eulers)


def _axis_angles(quats: Sequence[Array] | Array) -> Array:
    """(T, 4) angle and axis; the axis keeps its side when the rotation passes through zero."""
    rows = np.empty((len(quats), 4))
    axis = np.array([0.0, 1.0, 0.0])
    for i, quat in enumerate(quats):
        sine = float(np.linalg.norm(quat[1:]))
        angle = 2.0 * np.arctan2(sine, quat[0])
        found = quat[1:] / sine if sine > 1e-9 else axis
        if found @ axis < 0 and i > 0:
            found, angle = -found, -angle
        rows[i] = [angle, *found]
        axis = found
    rows[:, 0] = np.unwrap(rows[:, 0])  # a turn more about the same axis is the same rotation
    return rows
