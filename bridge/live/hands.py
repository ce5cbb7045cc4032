# SPDX-License-Identifier: GPL-3.0-or-later
"""What hands do in a 3D view, as commands: which bone is under the mouse, where it is dragged to, what is thrown."""

from typing import Any

import bpy
import numpy as np
from bpy_extras.view3d_utils import (
    location_3d_to_region_2d,
    region_2d_to_location_3d,
    region_2d_to_origin_3d,
    region_2d_to_vector_3d,
)
from mathutils import Vector

from ...core.jobs.live.wire import PoseMessage
from .running import RunningSession

_NEAR_PIXELS = 60.0
_PUSH_N_KG, _PUSH_FRAMES = 2.0, 9
_BALL_M_S, _BOX_ABOVE_M = 7.0, 1.5
_MUZZLE_M = 3.0
ARROWS = {
    "UP_ARROW": (0.0, 1.0),
    "DOWN_ARROW": (0.0, -1.0),
    "LEFT_ARROW": (-1.0, 0.0),
    "RIGHT_ARROW": (1.0, 0.0),
}
"""Keys that steer, and where they lead as seen in the view: to the right, and away."""
STYLE_KEYS = ("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
_WALK_M_S, _RUN_M_S = 1.3, 3.0


def link_places(session: RunningSession, character: int = 0, pose: PoseMessage | None = None) -> dict[str, np.ndarray]:
    """Where a character's simulated bones are, in Blender units, by name, in the newest pose or another one.

    There are none before the first pose.
    """
    pose = pose or session.pose
    if pose is None or session.layout is None:
        return {}
    pos, _ = session.layout.split(pose.numbers)[0][character]
    names = session.posers[character].bones
    metres = session.rigs[character].metres_per_unit
    return {name: pos[names.index(name)] / metres for name in session.links[character]}


def find_bone(
    session: RunningSession, region: bpy.types.Region, view: bpy.types.RegionView3D, mouse: tuple[float, float]
) -> tuple[int, str] | None:
    """The character and bone nearest to the mouse on the screen, if one is near enough.

    A view's matrices are those of when it was drawn last, and so must the pose be: on a slow screen the newest one is
    a step ahead of what is seen.
    """
    found, nearest = None, _NEAR_PIXELS
    for character in range(len(session.posers)):
        for name, place in link_places(session, character, session.drawn).items():
            seen = location_3d_to_region_2d(region, view, Vector(place.tolist()))
            if seen is not None and (seen - Vector(mouse)).length < nearest:
                found, nearest = (character, name), (seen - Vector(mouse)).length
    return found


def drag_command(
    session: RunningSession,
    region: bpy.types.Region,
    view: bpy.types.RegionView3D,
    mouse: tuple[float, float],
    held: tuple[int, str],
) -> dict[str, Any]:
    """Drag the bone to under the mouse, as far from the view as it is."""
    character, bone = held
    place = Vector(link_places(session, character, session.drawn)[bone].tolist())
    to = region_2d_to_location_3d(region, view, mouse, place) * session.rigs[0].metres_per_unit
    return {"do": "drag", "character": character, "bone": bone, "to": list(to)}


def push_command(
    session: RunningSession, view: bpy.types.RegionView3D, held: tuple[int, str], times: float = 1.0
) -> dict[str, Any]:
    """Push the bone away from who looks, level with the ground."""
    away = view.view_rotation @ Vector((0.0, 0.0, -1.0))
    level = Vector((away.x, away.y, 0.0))
    level = level.normalized() if level.length > 1e-3 else Vector((0.0, 1.0, 0.0))
    return aimed_push(session, tuple(level), held, times)


def aimed_push(
    session: RunningSession, along: tuple[float, ...], held: tuple[int, str], times: float = 1.0
) -> dict[str, Any]:
    """A push along a direction of length one, as strong as suits the character's weight."""
    newtons = _PUSH_N_KG * session.masses[held[0]] * times
    force = [newtons * part for part in along]
    return {"do": "push", "character": held[0], "bone": held[1], "force": force, "frames": _PUSH_FRAMES}


def ball_command(
    session: RunningSession, region: bpy.types.Region, view: bpy.types.RegionView3D, mouse: tuple[float, float]
) -> dict[str, Any]:
    """Throw a ball from the view to what is under the mouse, as far away as the character."""
    metres = session.rigs[0].metres_per_unit
    middle = Vector(np.mean(list(link_places(session, session.led).values()), axis=0).tolist())
    target = region_2d_to_location_3d(region, view, mouse, middle) * metres
    eye = region_2d_to_origin_3d(region, view, mouse) * metres
    along = region_2d_to_vector_3d(region, view, mouse)
    begin = target - along * min(_MUZZLE_M, (target - eye).length)
    return thrown_ball(tuple(begin), tuple(target))


def thrown_ball(begin: tuple[float, ...], target: tuple[float, ...]) -> dict[str, Any]:
    """A ball that flies from a point to another one, both in metres."""
    way = Vector(target) - Vector(begin)
    seconds = max(way.length / _BALL_M_S, 0.05)
    velocity = way / seconds + Vector((0.0, 0.0, 0.5 * 9.81 * seconds))
    return {"do": "throw", "at": list(begin), "velocity": list(velocity)}


def box_command(
    session: RunningSession, region: bpy.types.Region, view: bpy.types.RegionView3D, mouse: tuple[float, float]
) -> dict[str, Any]:
    """Drop a box from above what is under the mouse."""
    middle = Vector(np.mean(list(link_places(session, session.led).values()), axis=0).tolist())
    place = region_2d_to_location_3d(region, view, mouse, middle) * session.rigs[0].metres_per_unit
    return {"do": "drop", "at": [place.x, place.y, place.z + _BOX_ABOVE_M]}


def press_arrow(pressed: frozenset[str], key: str, is_down: bool) -> frozenset[str]:
    """The arrows that are held after one was pressed or let go."""
    return pressed | {key} if is_down else pressed - {key}


def choose_style(session: RunningSession, key: str) -> str:
    """Let who is led go in another style, or by another skill; the same key again lets it choose. Gives its name."""
    led = session.led
    known, number = session.styles[led], STYLE_KEYS.index(key)
    if number >= len(known):
        return ""
    session.style[led] = "" if session.style.get(led) == known[number] else known[number]
    return session.style[led]


def steer_command(
    session: RunningSession, view: bpy.types.RegionView3D, pressed: frozenset[str], fast: bool
) -> dict[str, Any]:
    """Go where the arrows that are held lead, as seen in the view; stand where none is."""
    turn = np.array(view.view_rotation.to_matrix())
    # Looking straight down, up on the screen is away.
    away = turn @ ([0.0, 0.0, -1.0] if abs(turn[2, 2]) < 0.9 else [0.0, 1.0, 0.0])
    right, ahead = turn[:2, 0], away[:2] / max(float(np.linalg.norm(away[:2])), 1e-6)
    ways = [ARROWS[key][0] * right + ARROWS[key][1] * ahead for key in sorted(pressed)]
    wished = np.sum(ways, axis=0) if ways else np.zeros(2)
    length = float(np.linalg.norm(wished))
    speed = (_RUN_M_S if fast else _WALK_M_S) if length > 1e-3 else 0.0
    command = {"do": "steer", "character": session.led}
    if style := session.style.get(session.led):
        command["style"] = style
    return {**command, "velocity": [float(part) for part in wished / max(length, 1e-6) * speed]}
