# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature as it stands at one frame, for methods that make a motion of their own and only need its beginning."""

from dataclasses import replace

import bpy
import numpy as np

from ...core.motion import Clip, Skeleton
from ..scene.time_slicing import SLICE_S, Slices
from .rig_reader import RigMotion, RigReading

_SAME_M, _SAME = 1e-3, 1e-4


def read_standing_pose(
    obj: bpy.types.Object, frame: int, seconds: float, scale: float, slice_s: float = SLICE_S
) -> Slices[RigMotion]:
    """The armature's pose at a frame, without its takes, as a motion that does not move and lasts so long."""
    reading = RigReading(obj, frames=(frame, frame + 1), scale=scale, without_takes=True)
    try:
        yield None  # many bones take a while each time
        while not reading.advance(slice_s):
            yield None
        rig: RigMotion = yield lambda: _hold_first(reading.finish(), seconds)
    finally:
        reading.close()
    return rig


def _hold_first(rig: RigMotion, seconds: float) -> RigMotion:
    """The first pose of a motion, held for so long."""
    count = max(round(seconds * rig.clip.fps), 1) + 1
    still = (np.repeat(array[:1], count, axis=0) for array in (rig.clip.local_pos, rig.clip.local_quat_wxyz))
    clip = Clip(rig.clip.skeleton, rig.clip.fps, *still, rig.clip.name)
    return replace(rig, clip=clip, bone_stretch=rig.bone_stretch[:1])


def match_skeleton(rig: RigMotion, skeleton: Skeleton) -> RigMotion:
    """The motion on a skeleton that differs only in the order of its bones and in how its roots rest.

    A file may have been learned from other files, whose bones come in another order than Blender's; and roots rest
    otherwise where the object itself was turned. On a skeleton that differs in more, the motion is left as it is.
    """
    own = rig.clip.skeleton
    if set(own.names) != set(skeleton.names):
        return rig
    order = [own.index(name) for name in skeleton.names]
    carried = np.asarray(skeleton.parents) >= 0
    over = [own.names[own.parents[bone]] if own.parents[bone] >= 0 else "" for bone in order]
    far = np.abs(own.rest_pos[order] - skeleton.rest_pos)[carried].max(initial=0.0)
    cosines = np.abs(np.sum(own.rest_quat_wxyz[order] * skeleton.rest_quat_wxyz, axis=-1))
    longer = np.abs(own.lengths[order] - skeleton.lengths).max(initial=0.0)
    if over != [skeleton.names[parent] if parent >= 0 else "" for parent in skeleton.parents]:
        return rig
    if far > _SAME_M or longer > _SAME_M or 1.0 - cosines[carried].min(initial=1.0) > _SAME:
        return rig
    pos, quat = rig.clip.local_pos[:, order], rig.clip.local_quat_wxyz[:, order]
    clip = Clip(skeleton, rig.clip.fps, pos, quat, rig.clip.name, rig.clip.tags)
    return replace(rig, clip=clip, bone_stretch=rig.bone_stretch[:, order])
