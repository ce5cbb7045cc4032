# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender armatures made from skeletons."""

import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import RigError
from ...core.geometry.quaternions import from_matrix, to_matrix
from ...core.limits import BLENDER_NAME_BYTES
from ...core.motion import Skeleton
from ...core.motion.bone_lengths import replace_impossible_lengths
from ...core.motion.skeleton import to_local
from .rest_bones import bone_depths

# Blender throws a bone away on leaving edit mode when its ends are this near.
_SHORTEST_M = 1e-3


def armature_from_skeleton(skeleton: Skeleton, name: str, collection: bpy.types.Collection) -> bpy.types.Object:
    """An armature object in ``collection`` whose bones rest exactly as the skeleton's do, in metres, Z up.

    No bone is connected to its parent, because a connected bone would ignore its translation keys. Bones are
    in single precision as all of Blender is; bones shorter than a millimetre are made that long. Mode,
    selection and active object of every scene stay as they are.
    """
    for bone in skeleton.names:
        length = len(bone.encode())
        if length > BLENDER_NAME_BYTES or "\0" in bone or not bone:
            much = f"Bone '{bone}' has a name of {length} bytes, and Blender's have 1 to {BLENDER_NAME_BYTES}"
            raise RigError(much, "Rename it where it was made")
    data = bpy.data.armatures.new(name)
    obj = bpy.data.objects.new(name, data)
    try:
        collection.objects.link(obj)
        _add_bones(obj, skeleton)
    except BaseException:
        bpy.data.armatures.remove(data)  # takes the object with it
        raise
    return obj


def skeleton_of(armature: bpy.types.Armature) -> Skeleton:
    """The armature's bones at rest in its own space and units, parents first."""
    depths = bone_depths(armature.bones)
    bones = sorted(armature.bones, key=lambda bone: depths[bone.name])
    place = {bone.name: index for index, bone in enumerate(bones)}
    parents = np.array([place[bone.parent.name] if bone.parent else -1 for bone in bones])
    matrices = np.array([bone.matrix_local for bone in bones]).reshape(-1, 4, 4)
    pos, quat = to_local(parents, matrices[:, :3, 3], from_matrix(matrices[:, :3, :3]))
    lengths = replace_impossible_lengths(parents, matrices[:, :3, 3], np.array([bone.length for bone in bones]))
    return Skeleton(tuple(place), parents, pos, quat, lengths)


def _add_bones(obj: bpy.types.Object, skeleton: Skeleton) -> None:
    # Bones can only be made in edit mode, and edit mode belongs to a view layer's active object: in a scene of
    # our own nothing of the user's is touched, whatever they have selected or are editing.
    scene = bpy.data.scenes.new("Sinew edit")
    try:
        scene.collection.objects.link(obj)
        layer = scene.view_layers[0]
        layer.objects.active = obj
        with bpy.context.temp_override(scene=scene, view_layer=layer, active_object=obj, object=obj):
            bpy.ops.object.mode_set(mode="EDIT")
            try:
                _fill(obj.data.edit_bones, skeleton)
            finally:
                bpy.ops.object.mode_set(mode="OBJECT")
    finally:
        bpy.data.scenes.remove(scene)


def _fill(edit_bones: bpy.types.ArmatureEditBones, skeleton: Skeleton) -> None:
    heads, quats = skeleton.rest_world()
    matrices = np.zeros((len(skeleton), 4, 4))
    matrices[:, :3, :3] = to_matrix(quats)
    matrices[:, :3, 3] = heads
    matrices[:, 3, 3] = 1.0
    made: list[bpy.types.EditBone] = []
    for index, name in enumerate(skeleton.names):
        bone = edit_bones.new(name)
        bone.head = (0.0, 0.0, 0.0)
        bone.tail = (0.0, max(float(skeleton.lengths[index]), _SHORTEST_M), 0.0)
        bone.matrix = Matrix(matrices[index].tolist())
        if skeleton.parents[index] >= 0:
            bone.parent = made[skeleton.parents[index]]
        made.append(bone)
