# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes of the verbs about other characters: a model is imported, and a motion is put on another armature."""

from dataclasses import replace

import bpy

from ...core.sim.models.reading import read_model_file
from ..importing.models import add_given_character_in_slices, model_name
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.requests import Request, find_armature
from ..scene.time_slicing import Slices
from ..takes import preview_range
from .other_bodies import put_on_in_slices, read_bodied_clip, require_model


def import_recipe(text: str, scale: float) -> Recipe:
    """Add a model to the scene, to what is there, select it, and choose it where no character is chosen."""

    def steps(own: Preparation) -> Slices[Outcome]:
        path = require_model(text)
        own.title, own.text = path.name, f"Reading '{path.name}'"
        python = yield from own.find_worker()
        character = yield lambda: read_model_file(path, python, scale)
        own.text = f"Adding '{path.name}'"
        yield from _wait_for_object_mode(own)
        obj = yield from add_given_character_in_slices(
            lambda: own.scene, character, model_name(path), slice_s=own.slice_s
        )
        if own.scene.sinew.armature is None:
            own.scene.sinew.armature = obj
        if own.scene == bpy.context.scene:
            _select(obj)
        return Outcome(f"'{obj.name}' has {len(obj.data.bones)} links", character.notes, undo_step="Import Robot")

    return steps


def put_on_recipe(request: Request, target: str, scale: float) -> Recipe:
    """Put the motion on another armature, and choose that with its new Action."""

    def steps(own: Preparation) -> Slices[Outcome]:
        rig = yield from own.read(replace(request, cycles=1))
        own.text = f"Putting it on '{target}'"
        source = yield from read_bodied_clip(rig, request.armature)
        yield from _wait_for_object_mode(own)
        action = yield from put_on_in_slices(source, target, None, scale, slice_s=own.slice_s)
        obj, scene = find_armature(target), own.scene
        scene.sinew.armature, scene.sinew.action = obj, action
        preview_range.follow_action(obj, action)
        said = f"'{obj.name}' has '{action.name}': simulate it, or learn it within bounds"
        return Outcome(said, undo_step="Put on Selected Armature")

    return steps


def _wait_for_object_mode(own: Preparation) -> Slices[None]:
    """Other modes have an undo of their own, which would not know of what is made."""
    while bpy.context.mode not in ("OBJECT", "POSE") and own.slice_s != float("inf"):
        own.text = "Goes on when you are back in Object Mode or Pose Mode"
        yield None


def _select(obj: bpy.types.Object) -> None:
    for selected in bpy.context.selected_objects:
        selected.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
