# SPDX-License-Identifier: GPL-3.0-or-later
"""From pose matrices to the values of a bone's channels: location, rotation in its own mode, scale."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ...core.geometry.quaternions import Array, from_matrix, unroll
from .rest_bones import RestBone
from .rig_reader import rotation_of

_AT_ONCE = 2000  # conversions of Blender's own, which take some 10 microseconds each


def basis_matrices(bone: RestBone, pose: Array, parent_pose: Array | None) -> Array:
    """(T, 4, 4) what a plain bone's own channels must hold to reach ``pose`` (T, 4, 4, armature space).

    parent_pose: (T, 4, 4) of the parent, None for a root.
    """
    if bone.inherits == "NOTHING" or parent_pose is None or bone.parent_rest is None:
        return _inverse(bone.rest) @ pose
    return _inverse(parent_pose @ (_inverse(bone.parent_rest) @ bone.rest)) @ pose


def _inverse(matrices: Array) -> Array:
    """(..., 4, 4) the inverses of matrices whose last row is 0 0 0 1; ten times as fast as for any matrix."""
    x, y, z = (matrices[..., :3, axis] for axis in range(3))
    rows = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=-2)
    found = np.zeros_like(matrices, dtype=float)
    found[..., :3, :3] = rows / np.sum(x * rows[..., 0, :], axis=-1)[..., None, None]
    found[..., :3, 3] = -(found[..., :3, :3] @ matrices[..., :3, 3:])[..., 0]
    found[..., 3, 3] = 1.0
    return found


def convert_basis(bone: bpy.types.Bone, pose: Array, parent_pose: Array | None, basis: Array, first: int) -> int:
    """Fill ``basis`` (T, 4, 4) from frame ``first`` on for any bone, some frames at a time; the frame to go on with.

    The rarer ways of inheriting are Blender's to know; its own conversion is exact but goes frame by frame.
    """
    last = min(first + _AT_ONCE, len(pose))
    for i in range(first, last):
        parents = {}
        if bone.parent is not None and parent_pose is not None:
            parents = {"parent_matrix": Matrix(parent_pose[i]), "parent_matrix_local": bone.parent.matrix_local}
        basis[i] = bone.convert_local_to_pose(Matrix(pose[i]), bone.matrix_local, invert=True, **parents)
    return last


def curves(bone: RestBone, basis: Array) -> Iterator[tuple[str, int, Array]]:
    """RNA path, component and values (T,) of every curve of a bone; a connected one has no location."""
    axes = basis[:, :3, :3]
    scale = np.linalg.norm(axes, axis=1)
    scale[:, 2] *= np.where(np.linalg.det(axes) < 0, -1.0, 1.0)
    values = {"scale": scale}
    if not bone.connected:
        values["location"] = basis[:, :3, 3]
    values |= rotation_values(bone.mode, from_matrix(rotation_of(axes)))
    for channel, columns in values.items():
        for component in range(columns.shape[1]):
            yield f"{bone.path}.{channel}", component, columns[:, component]


def rotation_values(mode: str, quats: Array) -> dict[str, Array]:
    """The channel of this rotation mode and its values (T, n) for rotations (T, 4), without jumps."""
    quats = unroll(quats)
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
