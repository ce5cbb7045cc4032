# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature and its baked copies stand in the same place, so only one of them shows: the others are set aside.

What is set aside is hidden in viewports and renders, and remembers on itself how it was hidden before.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

_FLAGS = ("hide_viewport", "hide_render")


def followers(obj: bpy.types.Object, among: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Objects that the armature deforms by a modifier or carries as their parent."""
    return [
        other
        for other in among
        if other != obj
        and (other.parent == obj or any(m.type == "ARMATURE" and m.object == obj for m in other.modifiers))
    ]


def is_set_aside(obj: bpy.types.Object) -> bool:
    """Whether a take that shows on another object has hidden it."""
    return bool(getattr(obj, "sinew_hidden", ""))


def shows_by_itself(obj: bpy.types.Object) -> bool:
    """Whether the object shows, or would if no take showed instead of it."""
    return obj.visible_get() or is_set_aside(obj)


def set_aside(obj: bpy.types.Object) -> None:
    """Hide an armature and what it deforms or carries."""
    for one in (obj, *followers(obj, bpy.data.objects)):
        if one.library is None and not one.sinew_hidden:
            one.sinew_hidden = "".join("1" if getattr(one, flag) else "0" for flag in _FLAGS)
            for flag in _FLAGS:
                setattr(one, flag, True)


def bring_back(obj: bpy.types.Object) -> None:
    """Let an armature and what it deforms or carries show as before they were set aside."""
    for one in (obj, *followers(obj, bpy.data.objects)):
        bring_back_alone(one)


def bring_back_alone(obj: bpy.types.Object) -> None:
    """Let one object show as before it was set aside, if it was."""
    if is_set_aside(obj):
        for flag, was in zip(_FLAGS, obj.sinew_hidden, strict=False):
            setattr(obj, flag, was == "1")
        obj.sinew_hidden = ""


@contextmanager
def show_set_aside(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Blender does not evaluate what is hidden: let what was set aside show in viewports for a while."""
    lifted = [one for one in objects if is_set_aside(one) and one.hide_viewport and one.sinew_hidden[0] == "0"]
    try:
        for one in lifted:
            one.hide_viewport = False
        yield
    finally:
        for one in lifted:
            one.hide_viewport = True
