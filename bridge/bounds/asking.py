# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel asks for, as training and baking want it."""

from dataclasses import fields, replace

import bpy

from ...core.errors import BoundsError
from ...core.files import Attachment
from ..body.body_inputs import read_body_request
from ..jobs.requests import Request
from ..jobs.scene_request import request_of, settings_group_of, settings_type
from ..learned import beside
from ..scene.chosen_armature import why_editing, why_no_armature
from ..scene.settings_groups import plain_values, shortest_decimal
from . import baking as baking_jobs
from . import files
from . import training as training_jobs
from .styling import neutral_attachment, style_of_action
from .views import source_of

TRAIN = training_jobs.METHOD
# What the panel has in the armature's own words, not in those of the method's settings.
_SAID = ("bounds",)


def training(scene: bpy.types.Scene, obj: bpy.types.Object) -> Request:
    """What is to be learned, and how."""
    action = source_of(scene, obj)
    return replace(
        request_of(scene),
        action=action.name if action else "",
        method=TRAIN,
        settings=plain_values(settings_group_of(scene, TRAIN), settings_type(TRAIN)),
        seed=obj.sinew_bounds.seed,
        body=read_body_request(obj),
    )


def begun_with(request: Request, obj: bpy.types.Object) -> dict[str, Attachment]:
    """What else a job that trains must have: the motion that a style is that of, and a controller to begin with."""
    own, found = obj.sinew_bounds, {}
    if (request.settings or {}).get("style") == "manner":
        if own.manner is None:
            raise BoundsError("There is no motion in whose manner it could be done", "Choose an Action for the style")
        found |= style_of_action(request, own.manner.name)
    path = beside.absolute(obj, own.begin)
    return found | neutral_attachment(path) if path is not None else found


def baking(scene: bpy.types.Scene, obj: bpy.types.Object) -> baking_jobs.BakeRequest:
    """What is to be baked; what is no cycle is as long as it was learned."""
    own = obj.sinew_bounds
    return baking_jobs.BakeRequest(
        armature=obj.name,
        seconds=shortest_decimal(own.seconds) if files.view_of(obj).cyclic else 0.0,
        frame_start=own.frame_start,
        alone=own.stage == "CLEAN",
        engine=scene.sinew.engine,
        scale=shortest_decimal(scene.sinew.scale),
        place=scene.sinew.place,
        body=read_body_request(obj),
    )


def train_settings() -> tuple[str, ...]:
    """The settings of training that the panel draws, in the order in which they were declared."""
    return tuple(one.name for one in fields(settings_type(TRAIN)) if one.name not in _SAID)


def why_no_controller(obj: bpy.types.Object) -> str:
    """Why the armature has no controller, with the fix; '' if it has one. Cheap enough for ``draw``."""
    if not obj.sinew_bounds.file.strip():
        return "No controller yet: train one, or choose a controller file"
    if problem := files.view_of(obj).problem:
        return f"{problem.message}: {problem.hint[:1].lower()}{problem.hint[1:]}" if problem.hint else problem.message
    return ""


def why_not_bake(scene: bpy.types.Scene) -> str:
    """Why nothing can be baked yet, with the fix; '' if it can. Cheap enough for ``draw``."""
    if reason := why_no_armature(scene):
        return reason
    obj = scene.sinew.armature
    if reason := why_no_controller(obj):
        return reason
    if reason := why_editing(obj):
        return reason
    if obj.sinew_bounds.stage == "STAGE" and not baking_jobs.comes_something(scene):
        return "Nothing is on the stage: add a push or a projectile to it, or bake clean"
    return ""
