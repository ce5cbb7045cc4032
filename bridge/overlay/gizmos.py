# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrows to pull on, at the part of the active bone that has a shape by hand: each is one of its sizes."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ...core.body.edits import main_shape
from ...core.geometry.quaternions import Array, to_matrix
from ..body.edits import override_row
from ..scene.time_slicing import is_user_interacting
from . import frame_state
from .draw_list import frames_along

_COLORS = {"x": (0.95, 0.35, 0.40), "y": (0.55, 0.85, 0.25), "z": (0.35, 0.60, 0.98)}
_AXES = {"x": 0, "y": 1, "z": 2}
_SMALLEST_M = 0.001
_STEP_S = 0.2


class SINEW_GGT_part(bpy.types.GizmoGroup):
    """Arrows for radius, length or edges of the active bone's part."""

    bl_idname = "SINEW_GGT_part"
    bl_label = "Sinew Part"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """A character must be posed, and its active bone have a shape by hand."""
        own = context.scene.sinew_overlay
        row = _row(context) if own.show and own.body and own.handles else None
        return row is not None and row.use_shape

    def setup(self, context: bpy.types.Context) -> None:
        """Make an arrow for each axis of a shape."""
        self.arrows = {}
        for name, color in _COLORS.items():
            arrow = self.gizmos.new("GIZMO_GT_arrow_3d")
            arrow.draw_style = "BOX"
            arrow.color, arrow.alpha = color, 0.8
            arrow.color_highlight, arrow.alpha_highlight = (1.0, 1.0, 1.0), 1.0
            arrow.use_draw_modal = True
            arrow.target_set_handler("offset", get=_reader(name), set=_writer(name))
            self.arrows[name] = arrow

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Put the arrows where the part is now."""
        row, place = _row(context), _place(context)
        for name, arrow in self.arrows.items():
            arrow.hide = row is None or place is None or name not in _SIZES[row.shape]
            if not arrow.hide and place is not None:
                arrow.matrix_basis = _along(*place, _AXES[name])


# By shape which of its sizes an arrow along each of its axes is, and how many times what the arrow shows.
_SIZES: dict[str, dict[str, tuple[str, int | None, float]]] = {
    "sphere": {"x": ("radius", None, 1.0)},
    "capsule": {"x": ("radius", None, 1.0), "z": ("length", None, 2.0)},
    "box": {"x": ("edges", 0, 2.0), "y": ("edges", 1, 2.0), "z": ("edges", 2, 2.0)},
}


def _row(context: bpy.types.Context) -> bpy.types.PropertyGroup | None:
    """What is said of the active bone of the chosen character while it is posed."""
    obj = context.scene.sinew.armature
    if obj is None or obj.mode != "POSE" or not obj.is_editable or obj.data.bones.active is None:
        return None
    return override_row(obj, obj.data.bones.active.name)


def _place(context: bpy.types.Context) -> tuple[Array, Array, float] | None:
    """(3,) where the part's shape is in Blender units, (3, 3) its axes, and metres a unit; None if it is not shown."""
    scene, obj = context.scene, context.scene.sinew.armature
    shown = (
        frame_state.read_character(scene, context.view_layer, context.evaluated_depsgraph_get(), obj.name)
        if obj
        else None
    )
    if shown is None or shown.active < 0:
        return None
    shape, axes = main_shape(shown.parts.body.links[shown.active]), shown.axes[shown.active]
    return shown.pos[shown.active] + axes @ shape.pos / shown.metres, axes @ to_matrix(shape.quat_wxyz), shown.metres


def _along(centre: Array, axes: Array, metres: float, axis: int) -> Matrix:
    """A frame at the centre whose Z is that axis and whose unit is a metre."""
    frame = frames_along(axes[:, axis][None])[0].astype(float)
    frame[:3, :3] /= metres
    frame[:3, 3] = centre
    return Matrix(np.asarray(frame).tolist())


def _reader(axis: str) -> Callable[[], float]:
    def read() -> float:
        row = _row(bpy.context)
        if row is None or axis not in _SIZES[row.shape]:
            return 0.0
        name, index, times = _SIZES[row.shape][axis]
        value = getattr(row, name)
        return float(value if index is None else value[index]) / times

    return read


def _writer(axis: str) -> Callable[[Any], None]:
    def write(value: Any) -> None:
        row = _row(bpy.context)
        if row is None or axis not in _SIZES[row.shape]:
            return
        name, index, times = _SIZES[row.shape][axis]
        wanted = max(float(value) * times, _SMALLEST_M)
        if index is None:
            setattr(row, name, wanted)
        else:
            getattr(row, name)[index] = wanted
        if not bpy.app.timers.is_registered(_push):
            bpy.app.timers.register(_push, first_interval=_STEP_S)

    return write


def _push() -> float | None:
    """Make the finished pull one step of undo: Blender does so for operators only."""
    if is_user_interacting():
        return _STEP_S
    bpy.ops.ed.undo_push(message="Resize Part")
    return None


def cancel_pending_undo() -> None:
    """Forget a pull that is not a step of undo yet."""
    if bpy.app.timers.is_registered(_push):
        bpy.app.timers.unregister(_push)
