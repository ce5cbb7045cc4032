# SPDX-License-Identifier: GPL-3.0-or-later
"""From pose matrices to the values of a bone's channels: location, rotation in its own mode, scale."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ..core.geometry.quaternions import Array, from_matrix, without_flips
from .rig_reader import rotation_of

_INHERITED = ("use_connect", "use_local_location", "use_inherit_rotation", "inherit_scale")
_AT_ONCE = 2000  # conversions of Blender's own, which take some 10 microseconds each


@dataclass(frozen=True, eq=False)
class RestBone:
    """A bone as its channels are about it, with nothing of Blender's in it, so that any thread may look at it.

    path: RNA path of the pose bone. parent: its parent's name, '' for none. mode: how its rotation is keyed.
    connected: whether its parent says where it begins. inherits: 'NOTHING' for a root, 'ALL' for the usual child,
    'OTHERWISE' for what only Blender knows how to convert. rest, parent_rest: (4, 4) in armature space.
    """

    name: str
    path: str
    parent: str
    mode: str
    connected: bool
    inherits: str
    rest: Array
    parent_rest: Array | None

    @classmethod
    def of(cls, pose_bone: bpy.types.PoseBone) -> "RestBone":
        """A pose bone's."""
        bone = pose_bone.bone
        parent = bone.parent
        inherits = "OTHERWISE"
        if parent is None and bone.use_local_location:
            inherits = "NOTHING"
        elif bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location:
            inherits = "ALL"
        return cls(
            pose_bone.name,
            pose_bone.path_from_id(),
            parent.name if parent is not None else "",
            pose_bone.rotation_mode,
            bone.use_connect and parent is not None,
            inherits,
            np.array(bone.matrix_local),
            np.array(parent.matrix_local) if parent is not None else None,
        )

    def is_plain(self, parent_pose: Array | None) -> bool:
        """Whether ``basis_matrices`` can convert it, given its parent's pose or none."""
        return self.inherits == "NOTHING" or (self.inherits == "ALL" and parent_pose is not None)


def fingerprint(obj: bpy.types.Object) -> tuple[bytes, tuple[tuple[object, ...], ...]]:
    """What decides how channel values pose an armature: the same for two that are posed alike by the same values."""
    bones = obj.data.bones
    rest = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", rest)
    ways = [
        (bone.name, bone.parent and bone.parent.name, *(getattr(bone, name) for name in _INHERITED)) for bone in bones
    ]
    modes = [(bone.name, bone.rotation_mode) for bone in obj.pose.bones]
    return rest.tobytes(), (*ways, *modes)


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


def converted(bone: bpy.types.Bone, pose: Array, parent_pose: Array | None, basis: Array, first: int) -> int:
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
