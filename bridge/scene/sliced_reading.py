# SPDX-License-Identifier: GPL-3.0-or-later
"""Read in slices what shows only in another state of the scene: at another frame, in rest position, without takes.

Each slice enters that state and leaves it again, so that between two of them everything is as it was. Datablocks are
resolved anew in each slice, for undo may have replaced them, or the user may have deleted them.
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
"""Reads one thing after the other, with a pause after each. A slice may end at any pause, so that no datablock is held
over one."""


def read_in_slices(
    reads: ReadSteps[ResultT], state: Callable[[], AbstractContextManager[Any]], slice_s: float = SLICE_S
) -> Slices[ResultT]:
    """Advance ``reads`` inside the context ``state()`` for ``slice_s`` seconds a slice, until all is read."""
    while True:
        begun = time.perf_counter()
        with state():
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
