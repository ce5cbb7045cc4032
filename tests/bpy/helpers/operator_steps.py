# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators pressed as a click does, and all of the file that they may change before and after."""

import bpy

from .interface import animation


def call(name, values=None, undo=False):
    """Press it; ``values`` may be a function, called now. undo: with the undo step that a click makes."""
    values = values() if callable(values) else values or {}
    operator = getattr(bpy.ops.sinew, name)
    return operator("EXEC_DEFAULT", True, **values) if undo else operator(**values)


def one_step(name, values=None):
    """Press it, and go back and forth: two scenes, and nothing in between."""
    before = state()
    assert call(name, values, undo=True) == {"FINISHED"}
    after = state()
    assert after != before, f"{name} changes nothing"
    for _ in range(2):
        assert bpy.ops.ed.undo() == {"FINISHED"}
        assert state() == before
        assert bpy.ops.ed.redo() == {"FINISHED"}
        assert state() == after


def state():
    """All of the file that Sinew's operators may change, as plain values."""
    scene, active = bpy.context.scene, bpy.context.view_layer.objects.active
    kept = {
        "frame_current",
        "frame_start",
        "frame_end",
        "use_preview_range",
        "frame_preview_start",
        "frame_preview_end",
    }
    return {
        "animation": animation(),
        "objects": {obj.name: thing(obj) for obj in bpy.data.objects},
        "scene": {name: plain(getattr(scene, name)) for name in (*ours(scene), *sorted(kept))},
        "rate": (scene.render.fps, scene.render.fps_base, scene.unit_settings.scale_length),
        "mode": bpy.context.mode,
        "active": active.name if active else "",
        "selected": sorted(obj.name for obj in bpy.context.selected_objects),
        "markers": {act.name: [(one.name, one.frame) for one in act.pose_markers] for act in bpy.data.actions},
        "images": sorted(image.name for image in bpy.data.images),
    }


def thing(obj):
    """What is Sinew's of an object, and where it is, as far as nothing moves it."""
    found = {name: plain(getattr(obj, name)) for name in ours(obj)}
    where = None if obj.animation_data else [tuple(row) for row in obj.matrix_basis]
    homes = sorted(home.name for home in obj.users_collection)
    return found | {"where": where, "homes": homes, "axis": obj.show_axis, "hidden": obj.hide_viewport}


def ours(owner):
    return [name for name in owner.bl_rna.properties.keys() if name.startswith("sinew")]  # noqa: SIM118


def plain(value):
    if isinstance(value, bpy.types.ID):
        return value.name
    if isinstance(value, bpy.types.PropertyGroup):
        names = [name for name in value.bl_rna.properties.keys() if name != "rna_type"]  # noqa: SIM118
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "add") and hasattr(value, "clear"):
        return [plain(item) for item in value]
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
