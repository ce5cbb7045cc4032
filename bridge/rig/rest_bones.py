# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones at rest as plain values: what decides how the values of their channels pose them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.geometry.quaternions import Array

BONE_CHANNEL = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(location|rotation_\w+|scale)$')
"""The RNA path of a channel that poses a bone: its name, with quotes escaped, and the channel."""

_INHERITED = ("use_connect", "use_local_location", "use_inherit_rotation", "inherit_scale")


def bone_depths(bones: Iterable[Any]) -> dict[str, int]:
    """By name how many bones are above each: 0 for a root. Blender's own lists of them cost a long chain's square."""
    parents = {bone.name: bone.parent.name if bone.parent else "" for bone in bones}
    depths: dict[str, int] = {"": -1}
    for name in parents:
        chain, at = [], name
        while at not in depths:
            chain.append(at)
            at = parents[at]
        for one in reversed(chain):
            depths[one] = depths[parents[one]] + 1
    return {name: depths[name] for name in parents}


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
        return cls(
            pose_bone.name,
            pose_bone.path_from_id(),
            parent.name if parent is not None else "",
            pose_bone.rotation_mode,
            bone.use_connect and parent is not None,
            inheritance_of(bone),
            np.array(bone.matrix_local),
            np.array(parent.matrix_local) if parent is not None else None,
        )

    def is_plain(self, parent_pose: Array | None) -> bool:
        """Whether ``basis_matrices`` can convert it, given its parent's pose or none."""
        return self.inherits == "NOTHING" or (self.inherits == "ALL" and parent_pose is not None)


def inheritance_of(bone: bpy.types.Bone) -> str:
    """What a bone has of its parent, as in ``RestBone.inherits``."""
    if bone.parent is None:
        return "NOTHING" if bone.use_local_location else "OTHERWISE"
    whole = bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location
    return "ALL" if whole else "OTHERWISE"


def rig_fingerprint(obj: bpy.types.Object) -> tuple[bytes, tuple[tuple[object, ...], ...]]:
    """What decides how channel values pose an armature: the same for two that are posed alike by the same values."""
    bones = obj.data.bones
    rest = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix_local", rest)
    ways = [
        (bone.name, bone.parent and bone.parent.name, *(getattr(bone, name) for name in _INHERITED)) for bone in bones
    ]
    modes = [(bone.name, bone.rotation_mode) for bone in obj.pose.bones]
    return rest.tobytes(), (*ways, *modes)
