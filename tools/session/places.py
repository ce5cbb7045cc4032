# SPDX-License-Identifier: GPL-3.0-or-later
"""Inside Blender with a window: where things are on the screen, and what is under the mouse.

Blender tells nobody where it has drawn a button. But it knows which one the mouse is over, and can copy what that would
do to the clipboard; so the session looks for a button as a person does, by going over the panel. Places are pixels of
the screen from its upper left corner, as X counts them.
"""

from __future__ import annotations

import bpy
import inside


def window() -> bpy.types.Window:
    """The main window."""
    return bpy.context.window_manager.windows[0]


def box(area_type: str, region_type: str) -> list[int]:
    """Left, top, width and height of the region; all 0 where it is hidden."""
    region = _region(_area(area_type), region_type)
    if region.width < 2 or region.height < 2:
        return [0, 0, 0, 0]
    return [region.x, window().height - region.y - region.height, region.width, region.height]


def sidebar() -> dict:
    """Whether the 3D view's sidebar is open, on which tab, and where it is."""
    area = inside.view_area()
    shown = area.spaces.active.show_region_ui
    return {
        "shown": shown,
        "tab": _region(area, "UI").active_panel_category if shown else "",
        "box": box("VIEW_3D", "UI"),
    }


def show_tab(name: str) -> None:
    """Go to the sidebar's tab without a click."""
    _region(inside.view_area(), "UI").active_panel_category = name


def close_sidebar() -> None:
    """Hide the sidebar, as it is in a Blender that was just installed."""
    inside.view_area().spaces.active.show_region_ui = False


def hovered(area_type: str, region_type: str) -> str:
    """What the button under the mouse does, as a line of Python: a call, or the path of a property; '' for nothing."""
    manager, area = bpy.context.window_manager, _area(area_type)
    before, manager.clipboard = manager.clipboard, ""
    with bpy.context.temp_override(window=window(), area=area, region=_region(area, region_type)):
        for copy in (bpy.ops.ui.copy_python_command_button, lambda: bpy.ops.ui.copy_data_path_button(full_path=True)):
            try:
                copy()
            except RuntimeError:
                continue  # there is no button, or not one of that kind
            if manager.clipboard:
                break
    found, manager.clipboard = manager.clipboard, before
    return found


def frame_place(frame: float) -> list[int]:
    """Where that frame is on the timeline's ruler."""
    area = _area("DOPESHEET_EDITOR")
    region = _region(area, "WINDOW")
    x, _ = region.view2d.view_to_region(frame, 0.0, clip=False)
    return [region.x + x, window().height - (region.y + region.height - 8)]


def is_playing() -> bool:
    """Whether the animation plays."""
    return window().screen.is_animation_playing


def _area(area_type: str) -> bpy.types.Area:
    return next(area for area in window().screen.areas if area.type == area_type)


def _region(area: bpy.types.Area, region_type: str) -> bpy.types.Region:
    return next(region for region in area.regions if region.type == region_type)
