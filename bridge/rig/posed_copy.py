# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig's temporary copy that is posed by hand and looked at: what its constraints make of values of its channels."""

from collections.abc import Mapping

import bpy
import numpy as np
from mathutils import Matrix

from ...core.geometry.quaternions import Array
from .keying import RigChanged
from .sampling_copy import SamplingCopy


class PosedCopy:
    """A copy of an armature in a scene of its own; found anew whenever it is used, because undo may replace it."""

    def __init__(self, scene: bpy.types.Scene, obj: bpy.types.Object, action: bpy.types.Action | None) -> None:
        """``action`` moves it, None for what moves the armature now."""
        self._copy = SamplingCopy(scene, obj, action, without_takes=True, with_data=True)
        self.names = [bone.name for bone in obj.pose.bones]
        self.place = {name: index for index, name in enumerate(self.names)}
        self._buffer = np.empty(16 * len(self.names), dtype=np.float32)
        self._frame: float | None = None

    def resolve(self) -> tuple[bpy.types.Scene, bpy.types.Object]:
        """Scene and copy."""
        found = self._copy.resolve()
        if found is None or len(found[1].pose.bones) != len(self.names):
            raise RigChanged
        return found

    def assign(self, action: bpy.types.Action | None) -> None:
        """Let an Action move it, or nothing: it stays as it stands."""
        copy = self.resolve()[1]
        data = copy.animation_data or copy.animation_data_create()
        for track in data.nla_tracks:
            track.mute = True
        data.action = action
        if action is not None:
            data.action_slot = action.slots[0]
        self._frame = None

    def set_bases(self, bases: Mapping[str, Array]) -> None:
        """Set bones' own channels to matrices (4, 4)."""
        bones = self.resolve()[1].pose.bones
        for name, basis in bases.items():
            bones[name].matrix_basis = Matrix(basis)

    def bases(self) -> dict[str, Array]:
        """(4, 4) by bone: its own channels."""
        return {bone.name: np.array(bone.matrix_basis) for bone in self.resolve()[1].pose.bones}

    def evaluate(self, frame: float | None = None) -> Array:
        """(B, 4, 4) pose matrices in pose order, at a frame or at the one of before."""
        scene, copy = self.resolve()
        if frame is not None and frame != self._frame:
            scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
            self._frame = frame
        else:
            scene.view_layers[0].update()
        evaluated = copy.evaluated_get(scene.view_layers[0].depsgraph)
        evaluated.pose.bones.foreach_get("matrix", self._buffer)
        return self._buffer.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)  # Blender hands out columns

    def evaluated(self) -> bpy.types.Object:
        """The copy as it was last evaluated."""
        scene, copy = self.resolve()
        return copy.evaluated_get(scene.view_layers[0].depsgraph)

    def remove(self) -> None:
        """Leave nothing of it."""
        self._copy.remove()
