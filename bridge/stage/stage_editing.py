# SPDX-License-Identifier: GPL-3.0-or-later
"""Put objects on the stage, and take them off."""

from collections.abc import Iterable, Iterator

import bpy
import numpy as np
from mathutils import Euler, Vector

from ...core.errors import BadStage
from .checks import can_have_role
from .properties import LABELS

_ARROW_M = 0.5


def assign_role(objects: Iterable[bpy.types.Object], role: str, frame: int) -> list[bpy.types.Object]:
    """Give the role to those that can have it; gives them. Refuses if there is none.

    frame: when a new projectile or push begins.
    """
    objects = list(objects)
    fit = [obj for obj in objects if can_have_role(obj, role) and obj.is_editable]
    if not fit:
        linked = next((obj for obj in objects if not obj.is_editable), None)
        if linked is not None:
            raise _is_linked(linked)
        names = ", ".join(f"'{obj.name}'" for obj in objects)
        raise BadStage(
            f"{names} cannot be {_article(LABELS[role].lower())}", "Select a mesh, or an armature for a character"
        )
    for obj in fit:
        if obj.sinew.role != role and role in {"PROJECTILE", "PUSH"}:
            obj.sinew.start_frame = frame
        obj.sinew.role = role
        if role == "PROJECTILE":
            obj.show_axis = obj.sinew.aim == "AXIS"
    return fit


def clear_roles(objects: Iterable[bpy.types.Object]) -> int:
    """Take the objects off the stage; gives how many were on it. Refuses if there is none."""
    on_it = [obj for obj in objects if obj.sinew.role != "NONE"]
    found = [obj for obj in on_it if obj.is_editable]
    if on_it and not found:
        raise _is_linked(on_it[0])
    if not found:
        raise BadStage("None of these objects is on the stage", "Select some that are, or use the crosses in the list")
    for obj in found:
        if obj.sinew.role == "PROJECTILE":
            obj.show_axis = False
        obj.sinew.former_role, obj.sinew.role = obj.sinew.role, "NONE"
    return len(found)


def former_role(obj: bpy.types.Object) -> str:
    """What an object was before it was taken off the stage, 'NONE' for one that is on it or never was."""
    part = obj.sinew
    if part.role != "NONE":
        return "NONE"
    if part.former_role == "NONE" and obj.type == "EMPTY" and part.bone:  # taken off before that was noted
        return "PUSH"
    return str(part.former_role)


def restore_role(obj: bpy.types.Object, frame: int) -> None:
    """Put an object back on the stage as what it was, with all its values."""
    role = former_role(obj)
    if role == "NONE":
        raise BadStage(f"'{obj.name}' was not taken off the stage", "Put it on the stage as what it is to be")
    start = obj.sinew.start_frame
    assign_role([obj], role, frame)
    obj.sinew.start_frame = start


def add_push(scene: bpy.types.Scene, armature: bpy.types.Object, bone: str, metres_per_unit: float) -> bpy.types.Object:
    """An arrow that pushes the bone along +Y from the current frame on; its tip is at the middle of the bone."""
    push = bpy.data.objects.new(f"Push {bone}", None)
    _home_beside(armature, bpy.context.view_layer).objects.link(push)
    push.empty_display_type = "SINGLE_ARROW"
    push.empty_display_size = _ARROW_M / metres_per_unit
    posed = armature.pose.bones[bone]
    middle = armature.matrix_world @ (0.5 * (posed.head + posed.tail))
    push.location = middle - Vector((0.0, push.empty_display_size, 0.0))
    push.rotation_euler = Euler((-np.pi / 2, 0.0, 0.0))
    push.sinew.role = "PUSH"
    push.sinew.armature, push.sinew.bone = armature, bone
    push.sinew.start_frame = scene.frame_current
    return push


def find_in_scene(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """The scene's object of that name; refuses one that is gone."""
    obj = scene.objects.get(name)
    if obj is None:
        raise BadStage(f"There is no '{name}' in this scene any more", "Undo, or choose another object")
    return obj


def select_only(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Select the object and make it active, out of any mode that another object is in."""
    context.view_layer.update()  # what was made just now counts
    if obj.name not in context.view_layer.objects:
        raise BadStage(f"'{obj.name}' is not in this view layer", "Enable its collection in the Outliner")
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in list(context.view_layer.objects):  # selecting may make Blender put the list together anew
        other.select_set(other == obj)
    context.view_layer.objects.active = obj


def _home_beside(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bpy.types.Collection:
    """A collection of the object's that is shown and may get more, else the scene's own, which always is."""
    shown = {part.collection for part in _layers(view_layer.layer_collection) if not part.exclude}
    own = (home for home in obj.users_collection if home in shown and home.is_editable)
    return next(own, view_layer.layer_collection.collection)


def _layers(part: bpy.types.LayerCollection) -> Iterator[bpy.types.LayerCollection]:
    yield part
    for child in part.children:
        yield from _layers(child)


def _is_linked(obj: bpy.types.Object) -> BadStage:
    return BadStage(
        f"'{obj.name}' is linked from another file",
        "Make a library override of it first (Object > Library Override > Make)",
    )


def _article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
