# SPDX-License-Identifier: GPL-3.0-or-later
"""A counter of changes that the overlay may show and does not itself compare in every redraw.

Blender tells of most that is edited, moved, hidden or undone; what comes from elsewhere, such as the overlay's own
switches or a source that was read for its ghost, calls ``count_change``. Blender does not tell of all: playback, frame
changes, and properties of Sinew's own are compared by ``overlay.frame_state.SceneReading``. No frame-change handler is
used: with one, motions could no longer be read in a scene of their own (``rig_sampling.is_self_contained``).
"""

from typing import Any

import bpy
from bpy.app.handlers import persistent

_numbers = [0]


def change_count() -> int:
    """How often something has changed; compared, never counted with."""
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
