# SPDX-License-Identifier: GPL-3.0-or-later
"""The second of a live session, to be dragged through the last minute: of Blender's window, in no file."""

from typing import Any

import bpy
from bpy.props import FloatProperty

from .running import running

_FPS = 60.0


def _get_second(_self: Any) -> float:
    session = running()
    return 0.0 if session is None else session.view.frame / _FPS


def _set_second(_self: Any, value: float) -> None:
    session = running()
    if session is not None and session.view.ready:
        session.look_at(round(value * _FPS))


def register() -> None:
    """Give Blender's window manager the second."""
    bpy.types.WindowManager.sinew_live_second = FloatProperty(
        name="Second",
        description="Drag it to look back through the last minute, and forth again; Go On goes on from there",
        get=_get_second,
        set=_set_second,
        min=0.0,
        max=3600.0,
        step=10,
        precision=1,
        options=set(),
    )


def unregister() -> None:
    """Take it away."""
    del bpy.types.WindowManager.sinew_live_second
