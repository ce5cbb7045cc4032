# SPDX-License-Identifier: GPL-3.0-or-later
"""The key that starts and stops a live session over a 3D view; it can be changed in Blender's preferences."""

from typing import Any

import bpy

KEY = "F6"
_KEYMAP = "3D View Generic"  # which holds over the sidebar as well
_items: list[tuple[Any, Any]] = []


def is_stop(event: bpy.types.Event) -> bool:
    """Whether an event is the key that starts, which stops as well; as it is set in the preferences."""
    manager = bpy.context.window_manager
    keymap = manager.keyconfigs.user.keymaps.get(_KEYMAP) if manager and manager.keyconfigs.user else None
    item = keymap.keymap_items.get("sinew.live") if keymap is not None else None
    held = (event.shift, event.ctrl, event.alt)
    if item is None or event.value != "PRESS" or event.is_repeat:
        return False
    return bool(event.type == item.type and held == (bool(item.shift), bool(item.ctrl), bool(item.alt)))


def register() -> None:
    """Have the key, where Blender has keys."""
    manager = bpy.context.window_manager
    config = manager.keyconfigs.addon if manager else None
    if config is not None:
        keymap = config.keymaps.new(name=_KEYMAP, space_type="VIEW_3D")
        _items.append((keymap, keymap.keymap_items.new("sinew.live", KEY, "PRESS")))


def unregister() -> None:
    """Take it away."""
    while _items:
        keymap, item = _items.pop()
        keymap.keymap_items.remove(item)
