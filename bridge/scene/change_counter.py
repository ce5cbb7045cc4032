# SPDX-License-Identifier: GPL-3.0-or-later
"""How often something was changed that the overlay may show and does not itself look at in every redraw.

Blender tells of most that is edited, moved, hidden or undone; what comes from elsewhere, such as the overlay's own
switches or a source that was read for its ghost, is noted by whoever brings it. Blender does not tell of all: what is
played or set to a frame, and properties of Sinew's own, ``moment.Sight`` compares. No handler for frames is used: with
one, motions could no longer be read in a scene of their own (``rig_sampling.stands_alone``).
"""

from typing import Any

import bpy
from bpy.app.handlers import persistent

_numbers = [0]


def change_count() -> int:
    """Another one than before wherever something has changed."""
    return _numbers[0]


def count_change() -> None:
    """Something has changed."""
    _numbers[0] += 1


@persistent
def _on_change(*_about: Any) -> None:
    count_change()


def _lists() -> tuple[list[Any], ...]:
    handlers = bpy.app.handlers
    return handlers.depsgraph_update_post, handlers.undo_post, handlers.redo_post, handlers.load_post


def register() -> None:
    """Count from now on."""
    for handlers in _lists():
        handlers.append(_on_change)


def unregister() -> None:
    """Count no more."""
    for handlers in _lists():
        if _on_change in handlers:
            handlers.remove(_on_change)
