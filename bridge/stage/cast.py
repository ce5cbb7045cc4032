# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of everybody on the stage."""

import bpy

from ..requests import Request, find_armature, read
from ..rig_reader import RigMotion, read_rig
from .reader import characters


def read_cast(scene: bpy.types.Scene, request: Request) -> dict[str, RigMotion]:
    """Armature name -> motion: the requested one first, then what moves the other characters in the same frames."""
    first = read(request)
    cast = {find_armature(request.armature).name: first}
    frames = (first.frame_start, first.frame_start + len(first.clip) - 1)
    for obj in characters(scene):
        if obj.name not in cast:
            cast[obj.name] = read_rig(obj, frames=frames, true_fps=request.true_fps, scale=request.scale)
    return cast
