# SPDX-License-Identifier: GPL-3.0-or-later
"""Who does what a library is asked for: a character of a scene, or one that is made of the library's skeleton."""

import bpy

from ...core.errors import BadSettings
from ...core.motion import Skeleton
from .. import mannequin
from ..importing.importers import set_frame_rate
from ..scene.muted_output import mute_output


def make_scene(fps: float) -> None:
    """An empty scene with ground and light."""
    with mute_output():
        bpy.ops.wm.read_homefile(use_empty=True)
        set_frame_rate(bpy.context.scene, fps)
        mannequin.build_set(bpy.context.scene)


def find_character(skeleton: Skeleton) -> str:
    """The scene's only armature with the library's bones; '' where there is none."""
    armatures = [obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE"]
    fitting = [obj.name for obj in armatures if set(skeleton.names) == {bone.name for bone in obj.data.bones}]
    if len(fitting) > 1:
        raise BadSettings(f"There are several characters for the library: {', '.join(fitting)}", "Give --armature NAME")
    return fitting[0] if fitting else ""


def stand_up_character(skeleton: Skeleton, scale: float) -> bpy.types.Object:
    """A character of the library's skeleton in the scene that is open."""
    with mute_output():
        obj = mannequin.build(bpy.context.scene, skeleton)
    metres = scale * bpy.context.scene.unit_settings.scale_length
    obj.scale = (1.0 / metres,) * 3
    return obj
