# SPDX-License-Identifier: GPL-3.0-or-later
"""The viewport's draw handler: its draw list is computed anew where something has changed, and else kept.

It holds no datablock, only arrays, names and numbers, so that undo, another file or a deleted armature leave it nothing
to stumble over. A bug in it is told once, in the log and in the panel, instead of at every redraw.
"""

import logging
import time
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..scene import change_counter
from . import frame_state, ghosts, gizmos, live_previews
from .draw_list import DrawList
from .gizmos import SINEW_GGT_part
from .layers import draw_layers
from .streams import draw_streams

_log = logging.getLogger(__name__)
_LOOK_AGAIN_S = 0.5  # nothing is kept for longer, in case a script changed what Blender does not tell of
_handles: list[Any] = []
_canvas: list[Any] = []  # the graphics card's side, once there is one
_trouble: list[str] = []  # why nothing is drawn any more
_spent_s: list[float] = []  # of the last redraw: by the clock, and of the processor's time
# By scene and view layer: how it stood, when that was looked at, and what there was to draw.
_kept: dict[tuple[int, str], tuple[tuple[object, ...], float, DrawList]] = {}


def current_draw_list(context: bpy.types.Context) -> DrawList | None:
    """What is to be drawn now; None if that is nothing. The same object as before where nothing has changed."""
    scene, layer = context.scene, context.view_layer
    if scene is None:
        return None
    if not scene.sinew_overlay.show:
        return _draw_streams_alone(scene)
    depsgraph = context.evaluated_depsgraph_get()  # what was changed and not told of yet is told of now
    reading = frame_state.read_scene(scene, layer, depsgraph)
    where, now, state = (
        (scene.session_uid, layer.name),
        time.monotonic(),
        (change_counter.change_count(), *reading.state()),
    )
    known = _kept.get(where)
    if known is not None and known[0] == state and now - known[1] < _LOOK_AGAIN_S:
        return known[2]
    found = draw_layers(frame_state.compute_frame_state(reading))
    _kept[where] = state, now, found
    return found


def _draw_streams_alone(scene: bpy.types.Scene) -> DrawList | None:
    """The take that is being made, where the overlay is off."""
    if not scene.sinew_overlay.rehearsal or not live_previews.is_streaming():
        return None
    found = DrawList()
    draw_streams(scene, found)
    return found


def draw_error() -> str:
    """Why nothing is drawn although it should be; '' if all is well."""
    return _trouble[0] if _trouble else ""


def draw_time_s() -> tuple[float, float]:
    """Seconds that the last redraw took by the clock, and of the processor's time.

    Where the processor does the graphics card's work, the clock also counts waiting for Blender's own drawing.
    """
    clock, worked = _spent_s or (0.0, 0.0)
    return clock, worked


def draw_overlay() -> None:
    """Draw over the viewport that Blender is drawing."""
    context = bpy.context
    if _trouble or not _shows_overlays(context):
        return
    try:
        begin, worked = time.perf_counter(), time.thread_time()
        found = current_draw_list(context)
        if found is not None:
            _paint(found, context)
            _spent_s[:] = [time.perf_counter() - begin, time.thread_time() - worked]
    except Exception as error:  # noqa: BLE001  # whatever it is, it would come again at every redraw
        _trouble[:] = [f"{type(error).__name__}: {error}"]
        _log.exception("the overlay is off until Blender is started again or its switch is used")


def _shows_overlays(context: bpy.types.Context) -> bool:
    return context.space_data is not None and context.space_data.overlay.show_overlays


def retry_drawing() -> None:
    """Let drawing be tried again after trouble."""
    _trouble.clear()


def _paint(found: DrawList, context: bpy.types.Context) -> None:
    if not _canvas:
        from .canvas import Canvas

        _canvas.append(Canvas())
    view = context.region_data
    size = (context.region.width, context.region.height)
    in_front = context.scene.sinew_overlay.in_front
    _canvas[0].draw(found, view.view_matrix, view.window_matrix, size, in_front=in_front)


@persistent
def _on_load(_path: str) -> None:
    """Another file has other datablocks, which may have the numbers of those that were."""
    _forget()


def _forget() -> None:
    ghosts.forget_ghosts()
    gizmos.cancel_pending_undo()
    frame_state.forget_frame_state()
    live_previews.forget_previews()
    _kept.clear()
    _trouble.clear()


def register() -> None:
    """Draw from now on, and offer handles."""
    bpy.utils.register_class(SINEW_GGT_part)
    _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw_overlay, (), "WINDOW", "POST_VIEW"))
    bpy.app.handlers.load_post.append(_on_load)


def unregister() -> None:
    """Draw no more."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    if _on_load in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(_on_load)
    bpy.utils.unregister_class(SINEW_GGT_part)
    _forget()
    _canvas.clear()
