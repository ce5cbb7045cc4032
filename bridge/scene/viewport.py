# SPDX-License-Identifier: GPL-3.0-or-later
"""3D views: drawing them again, and what they look at."""

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from . import change_counter

_SENSOR_MM = 72.0  # what Blender's viewport takes for its lens, across the wider side
_MARGIN = 1.15


def redraw_viewports(_self: Any = None, _context: Any = None) -> None:
    """Let every 3D view be drawn again, with what has changed; also the ``update`` of properties that show there."""
    change_counter.count_change()
    redraw_areas(("VIEW_3D",))


def redraw_views() -> None:
    """Let every 3D view be drawn again, and neither its sidebar nor its headers, which takes longer."""
    change_counter.count_change()
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        for area in window.screen.areas:
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == "WINDOW":
                    region.tag_redraw()


def redraw_areas(types: Iterable[str]) -> None:
    """Let every area of these types be drawn again."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        for area in window.screen.areas:
            if area.type in types:
                area.tag_redraw()


def shift_views(scene_name: str, by: np.ndarray) -> None:
    """Let every 3D view of a scene look (3,) Blender units further, but for those through a camera."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        if window.scene.name != scene_name:
            continue
        for area in window.screen.areas:
            view = area.spaces.active.region_3d if area.type == "VIEW_3D" else None
            if view is not None and view.view_perspective != "CAMERA":
                view.view_location = view.view_location + Vector(by.tolist())


def view_heading(scene_name: str) -> float:
    """Radians from +X, on the ground, along which the first 3D view of a scene looks; 0 where there is none."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        for area in window.screen.areas if window.scene.name == scene_name else ():
            view = area.spaces.active.region_3d if area.type == "VIEW_3D" else None
            if view is not None:
                turn = np.array(view.view_rotation.to_matrix())
                # Looking straight down, up on the screen is away.
                away = turn @ ([0.0, 0.0, -1.0] if abs(turn[2, 2]) < 0.9 else [0.0, 1.0, 0.0])
                return float(np.arctan2(away[1], away[0]))
    return 0.0


def frame_points(area: bpy.types.Area, points: np.ndarray) -> None:
    """Let the view see all of the points (N, 3), in the scene's units, beside the sidebar and from where it looked.

    A character is framed by everywhere it goes: Blender's own Frame Selected only sees where it is.
    """
    space = area.spaces.active
    view = space.region_3d
    if view is None or space.region_quadviews:
        return
    if view.view_perspective == "CAMERA":
        view.view_perspective = "PERSP"
    left, right, width, height = _free(area)
    if right - left < 1 or height < 1:
        return
    turn = np.array(view.view_rotation.to_matrix())  # columns: the view's right, up, and towards who looks
    seen = points @ turn
    low, high = seen.min(axis=0), seen.max(axis=0)
    middle = 0.5 * (low + high)
    away = seen - middle
    # Half of what is seen a unit away, across the whole region; what is free of it is all that counts sideways.
    half = 0.5 * _SENSOR_MM / space.lens * np.array([width, height]) / max(width, height)
    free = half * [(right - left) / width, 1.0] / _MARGIN
    distance = float((np.abs(away[:, :2]) / free + away[:, 2:]).max())
    view.view_distance = distance
    aside = half[0] * distance * ((left + right) / width - 1.0)
    view.view_location = Vector((turn @ (middle - [aside, 0.0, 0.0])).tolist())


def _free(area: bpy.types.Area) -> tuple[float, float, float, float]:
    """Pixels: from where to where nothing lies over the view, its width, and its height."""
    view = next(region for region in area.regions if region.type == "WINDOW")
    left, right = 0.0, float(view.width)
    if not bpy.context.preferences.system.use_region_overlap:
        return left, right, view.width, view.height
    for region in area.regions:
        if region.type in ("UI", "TOOLS") and region.width > 1 and region.height > 1:
            if region.x - view.x > view.width / 2:
                right = min(right, region.x - view.x)
            else:
                left = max(left, region.x - view.x + region.width)
    return left, right, view.width, view.height
