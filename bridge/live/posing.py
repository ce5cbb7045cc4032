# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that came from a live worker, on an armature: no keys, no undo step, and all as it was when it is over."""

from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core.errors import RigError
from ...core.geometry.quaternions import Array
from ..rig.channels import basis_matrices
from ..rig.pose_matrices import pose_matrices
from ..rig.rest_bones import RestBone

_CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}


class ArmaturePoser:
    """Poses one armature, which is known by its name; bones: those of the poses, in their order.

    Nothing of Blender's is kept: undo and file loading may replace any of it.
    """

    def __init__(self, obj: bpy.types.Object, bones: tuple[str, ...], metres_per_unit: float) -> None:
        self.name, self.bones, self._metres = obj.name, bones, metres_per_unit
        here = obj.pose.bones
        missing = [name for name in bones if name not in here]
        if missing:
            raise RigError(f"Armature '{obj.name}' has no bone '{missing[0]}'", "Start the live session again")
        rest = [RestBone.of(bone) for bone in here]
        place = {name: index for index, name in enumerate(bones)}
        self._order = np.array([place.get(bone.name, -1) for bone in rest])
        own = [bone for bone in rest if bone.name in place]
        self._known = np.flatnonzero(self._order >= 0)
        self._from = self._order[self._known]
        self._roots = np.array([bone.inherits == "NOTHING" for bone in own])
        self._parents = np.array([place.get(bone.parent, -1) for bone in own])
        self._roots |= self._parents < 0
        self._odd = tuple((index, bone.name) for index, bone in enumerate(own) if bone.inherits == "OTHERWISE")
        eye = np.eye(4)
        # What a bone's own channels are about, in its parent's pose; of roots in the armature's space.
        self._hangs = np.array(
            [
                bone.rest if root or bone.parent_rest is None else np.linalg.inv(bone.parent_rest) @ bone.rest
                for bone, root in zip(own, self._roots, strict=True)
            ]
        )
        self._stretch = np.broadcast_to(np.eye(3), (1, len(bones), 3, 3))
        self._count = len(here)
        self._basis = np.broadcast_to(eye, (self._count, 4, 4)).astype(np.float32).copy()
        self._saved: dict[str, NDArray[np.float32]] = self._read(obj)
        self._muted = tuple(
            (bone.name, constraint.name) for bone in here for constraint in bone.constraints if not constraint.mute
        )
        for bone, constraint in self._muted:
            here[bone].constraints[constraint].mute = True

    def find(self) -> bpy.types.Object | None:
        """The armature, if it is there and still the same rig."""
        obj = bpy.data.objects.get(self.name)
        if obj is None or obj.type != "ARMATURE" or obj.pose is None or len(obj.pose.bones) != self._count:
            return None
        return obj

    def apply(self, pos: NDArray[Any], quat: NDArray[Any]) -> bool:
        """Show bones at (B, 3) metres, turned (B, 4), in the world; False if the armature is not there."""
        obj = self.find()
        if obj is None:
            return False
        world = np.array(obj.matrix_world)[None]
        pose = pose_matrices(world, pos[None] / self._metres, quat[None].astype(float), self._stretch)[0]
        self._basis[self._known] = self._basis_of(obj, pose)
        # Blender's matrices lie in memory column by column.
        obj.pose.bones.foreach_set("matrix_basis", np.swapaxes(self._basis, -1, -2).ravel())
        obj.update_tag(refresh={"DATA"})
        return True

    def _basis_of(self, obj: bpy.types.Object, pose: Array) -> Array:
        """(K, 4, 4) what the channels of bones must be for poses (B, 4, 4) in the armature's space."""
        above = np.broadcast_to(np.eye(4), (len(self._from), 4, 4)).copy()
        above[~self._roots] = pose[self._parents[~self._roots]]
        basis = _invert(above @ self._hangs) @ pose[self._from]
        for index, name in self._odd:
            bone = obj.data.bones[name]
            parents = {}
            if bone.parent is not None and self._parents[index] >= 0:
                parents = {
                    "parent_matrix": Matrix(pose[self._parents[index]]),
                    "parent_matrix_local": bone.parent.matrix_local,
                }
            shown = Matrix(pose[self._from[index]])
            basis[index] = bone.convert_local_to_pose(shown, bone.matrix_local, invert=True, **parents)
        return np.asarray(basis)

    def restore_pose(self) -> bpy.types.Object | None:
        """The pose as it was before the first one; gives the armature, if it is there."""
        obj = self.find()
        if obj is not None:
            for channel, values in self._saved.items():
                obj.pose.bones.foreach_set(channel, values)
            obj.update_tag(refresh={"DATA"})
        return obj

    def restore(self) -> None:
        """Everything as it was before the first pose."""
        obj = self.restore_pose()
        if obj is None:
            return
        for bone, constraint in self._muted:
            its = obj.pose.bones[bone].constraints.get(constraint) if bone in obj.pose.bones else None
            if its is not None:
                its.mute = False
        obj.update_tag(refresh={"DATA"})

    def _read(self, obj: bpy.types.Object) -> dict[str, NDArray[np.float32]]:
        found = {}
        for channel, width in _CHANNELS.items():
            values = np.empty(width * self._count, dtype=np.float32)
            obj.pose.bones.foreach_get(channel, values)
            found[channel] = values
        return found


def _invert(matrices: Array) -> Array:
    """(N, 4, 4) the inverses of rotations and translations."""
    rest = RestBone("", "", "", "", False, "NOTHING", matrices, None)
    return basis_matrices(rest, np.broadcast_to(np.eye(4), matrices.shape), None)
