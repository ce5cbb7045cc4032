# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature's motion and its bounds to a job that learns it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import bpy

from ...core import jobs
from ...core.control.bounds.bounds import Bounds, attach_bounds
from ...core.control.character import BODY, BodyChoices, build_plain_body
from ...core.files import Attachment
from ..jobs import requests
from ..jobs.requests import Request
from ..rig.rig_reader import RigMotion
from .reading import bounds_for, parts_of, read_widths, require_parts

METHOD = "bounds_train"


def create(
    request: Request,
    rig: RigMotion,
    *,
    own: bool = True,
    more: Mapping[str, Attachment] | None = None,
    controller_file: Path | None = None,
    folder: Path | None = None,
) -> jobs.Job:
    """Make the job of what was read; refuses at once what nothing could be learned within, naming it and the fix.

    own: whether the bounds are those on the armature; else they are the preset of the request's settings. more: what
    else travels with the job. controller_file: where the controller is to go, over what is there; None for a file of
    its own beside the .blend.
    """
    obj = requests.find_armature(request.armature)
    inputs = requests.inputs_of(request, rig)
    attachments = {**inputs.attachments, **(more or {})}
    if own:
        bounds = read_bounds(obj, rig, inputs.attachments[BODY], requests.find_action(request.action))
        attachments |= attach_bounds(bounds)
    target = {**inputs.target, "named": "learned"}
    if controller_file is not None:
        target["controller_file"] = str(controller_file)
    inputs = replace(inputs, attachments=attachments, target=target)
    return requests.create_from(request, rig, inputs, title=f"{obj.name}: {rig.clip.name}", folder=folder)


def read_bounds(
    obj: bpy.types.Object, rig: RigMotion, body: Attachment, action: bpy.types.Action | None = None
) -> Bounds:
    """The armature's bounds in every frame of the clip. body: what the job is told of it.

    Which links a body has does not depend on its mesh, which would only give them other shapes.
    """
    choices = BodyChoices.from_mapping(body[1])
    plain = build_plain_body(rig.clip, choices)
    require_parts(obj, plain)
    return bounds_for(plain, parts_of(obj), read_widths(obj, rig, action))
