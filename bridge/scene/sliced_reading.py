# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what shows only while the scene is otherwise than its user has it: at another frame, at rest, without takes.

It is read in visits, each as long as Blender may be kept from listening. Between two of them everything is as it was;
so what is read is found anew each time, for undo may have replaced it, or the user may have deleted it.
"""

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any

import bpy

from ...core.errors import RigError
from .preserved_state import find_by_uid
from .time_slicing import SLICE_S, ResultT, Slices

ReadSteps = Generator[None, None, ResultT]
"""Reads one thing after the other, with a pause after each. Whatever is around it may be left in a pause, so that
nothing of Blender's is held over one."""


def read_in_slices(
    reads: ReadSteps[ResultT], visit: Callable[[], AbstractContextManager[Any]], slice_s: float = SLICE_S
) -> Slices[ResultT]:
    """Go on with ``reads`` inside ``visit()`` for about so long, leave, and come again until all is read."""
    while True:
        begun = time.perf_counter()
        with visit():
            while True:
                try:
                    next(reads)
                except StopIteration as end:
                    found: ResultT = end.value
                    return found
                if time.perf_counter() - begun > slice_s:
                    break
        yield None


def require_same_scene(scene_uid: int) -> bpy.types.Scene:
    """The scene in which reading was begun; refuses to go on in another."""
    scene = bpy.context.scene
    if scene.session_uid != scene_uid:
        raise RigError("Another scene was opened before all of this one was read", "Go back to it and try again")
    return scene


class DatablockRef:
    """A datablock by its number and name, to be found again after a pause; or None, which stays None.

    blocks: where in ``bpy.data`` it is, such as 'objects'.
    """

    def __init__(self, blocks: str, block: Any | None) -> None:
        self._blocks = blocks
        self._known = (block.session_uid, block.name) if block is not None else None

    def resolve(self) -> Any:
        """As it is now; refuses one that is gone."""
        if self._known is None:
            return None
        uid, name = self._known
        block = find_by_uid(getattr(bpy.data, self._blocks), uid)
        if block is None:
            raise RigError(f"'{name}' went while it was read", "Undo, or choose again")
        return block
