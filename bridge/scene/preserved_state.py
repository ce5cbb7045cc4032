# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at other frames of a scene and leave it as it was; find again what was there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

_TRANSFORMS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


def find_by_uid(blocks: Any, uid: int) -> Any | None:
    """The datablock of that ``session_uid``; None once it is gone. Undo replaces datablocks and keeps the numbers."""
    return next((block for block in blocks if block.session_uid == uid), None)


@contextmanager
def preserve_scene(scene: bpy.types.Scene) -> Iterator[None]:
    """The scene's frame, objects and bones are as they were, also those moved by hand and not keyed yet.

    Evaluating another frame writes what is animated into objects and bones, over what was not keyed.
    """
    frame, subframe = scene.frame_current, scene.frame_subframe
    moved = [
        holder
        for obj in scene.objects
        if obj.library is None
        for holder in (obj, *(obj.pose.bones if obj.pose else ()))
    ]
    kept = [[tuple(getattr(holder, name)) for name in _TRANSFORMS] for holder in moved]
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)
        for holder, values in zip(moved, kept, strict=True):
            for name, value in zip(_TRANSFORMS, values, strict=True):
                if tuple(getattr(holder, name)) != value:
                    setattr(holder, name, value)
        for layer in scene.view_layers:
            layer.update()
