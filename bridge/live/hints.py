# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a live session and what is dragged, drawn over the 3D views."""

import time
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader
from mathutils import Vector

from .hands import STYLE_KEYS, link_places
from .running import RunningSession, running
from .verbs import name_speed

KEYS = (
    ("Arrows", "go there; with Shift run"),
    ("1 to 9", ""),
    ("Drag", "pull a bone"),
    ("Click", "push a bone; with Shift throw a ball at it, with Ctrl drop a box on it"),
    ("F", "push what is under the mouse"),
    ("B", "throw a ball"),
    ("V", "drop a box"),
    ("L", "limp, and back"),
    ("R", "begin anew"),
    ("Space", "pause"),
    ("J", "a second back; with Shift on again"),
    ("- +", "slower, faster"),
    ("C", "view goes along, or stays"),
    ("Enter", "record"),
    ("Esc, F6", "stop"),
)
_SIZE, _LINE = 13, 19
_handles: list[Any] = []
held: dict[str, Any] = {}
"""What is dragged now: 'bone', 'character' and 'to' in Blender units; empty for nothing."""


def show_hints() -> None:
    """Draw from now on, where there is something to draw on."""
    if not _handles and not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL"))


def hide_hints() -> None:
    """Draw no more."""
    held.clear()
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")


def _draw() -> None:
    session = running()
    if session is None:
        return
    view, scale = session.view, bpy.context.preferences.system.ui_scale
    lines = [("", _headline(view)), *(_keys(session) if view.ready else ())]
    blf.size(0, _SIZE * scale)
    height = _LINE * scale * (len(lines) + 1)
    for number, (key, text) in enumerate(lines):
        y = height - _LINE * scale * number
        blf.color(0, *((1.0, 0.35, 0.3, 1.0) if view.recording and not key else (1.0, 1.0, 1.0, 0.9)))
        blf.position(0, 24 * scale, y, 0)
        blf.draw(0, key or text)
        if key:
            blf.color(0, 1.0, 1.0, 1.0, 0.6)
            blf.position(0, 90 * scale, y, 0)
            blf.draw(0, text)
    _draw_spring(scale)
    session.drawn = session.pose
    if session.undrawn is not None:
        session.drawn_s.append(time.perf_counter() - session.undrawn)
        session.undrawn = None


def _keys(session: RunningSession) -> tuple[tuple[str, str], ...]:
    """The keys that do something, and what."""
    if not session.steered[session.led]:
        return KEYS[2:]
    known = session.styles[session.led][: len(STYLE_KEYS)]
    chosen = session.style.get(session.led)
    named = ", ".join(f"{number} {name}{'*' if name == chosen else ''}" for number, name in enumerate(known, start=1))
    return (KEYS[0], *(((KEYS[1][0], named),) if named else ()), *KEYS[2:])


def _headline(view: Any) -> str:
    if not view.ready:
        return view.said
    states = [("paused", view.paused), ("recording", view.recording), ("limp", view.limp)]
    words = "".join(f", {word}" for word, there in states if there)
    pace = "" if view.speed == 1.0 else f", {name_speed(view.speed)}"
    return f"Live: {view.frame / 60.0:.1f} s{words}{pace}"


def _draw_spring(scale: float) -> None:
    """A line from the bone to where it is dragged, and how strong the pull is."""
    session = running()
    if not held or session is None or session.pull is None:
        return
    place = link_places(session, held["character"]).get(held["bone"])
    region, view = bpy.context.region, bpy.context.region_data
    if place is None or view is None:
        return
    ends = [location_3d_to_region_2d(region, view, Vector(list(map(float, end)))) for end in (place, held["to"])]
    if None in ends:
        return
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.line_width_set(2.0 * scale)
    shader.uniform_float("color", (1.0, 0.75, 0.2, 1.0))
    batch_for_shader(shader, "LINES", {"pos": [(end.x, end.y) for end in ends]}).draw(shader)
    gpu.state.line_width_set(1.0)
    newtons = float(np.linalg.norm(session.pull[held["character"]]))
    blf.color(0, 1.0, 0.85, 0.4, 1.0)
    blf.position(0, ends[1].x + 12 * scale, ends[1].y + 12 * scale, 0)
    blf.draw(0, f"{newtons:.0f} N")
