# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature's motion and its bounds to jobs that learn it, one or several styles of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...core import jobs
from ...core.control.bounds.bounds import Bounds, attach_bounds
from ...core.control.bounds.style.style_choice import NEUTRAL, STYLES, VARIANTS
from ...core.control.character import BODY, BodyChoices, build_plain_body
from ...core.control.learned import Content
from ...core.errors import BadSettings
from ...core.files import Attachment
from ...core.jobs.spec import new_id
from ..body.body_inputs import resolve_attachments
from ..jobs import requests
from ..jobs.preparing import Preparation
from ..jobs.requests import Inputs, Request
from ..rig.rig_reader import RigMotion
from ..scene.time_slicing import Slices
from .reading import bounds_for, parts_of, read_widths, require_parts

METHOD = "bounds_train"
LABELS = {name: label for name, label, _ in STYLES}


@dataclass(frozen=True)
class TrainRequest:
    """What is to be learned within bounds.

    request: of the motion, with the training's settings. own: whether the bounds are those on the armature; else they
    are the preset of those settings. more: what else travels with the job.
    """

    request: Request
    own: bool = True
    more: Mapping[str, Attachment] | None = None


def train_job(own: Preparation, asked: TrainRequest, rig: RigMotion, folder: Path | None = None) -> Slices[jobs.Job]:
    """Make the job of what was read; refuses at once what nothing could be learned within, naming it and the fix."""
    request, name = asked.request, requests.find_armature(asked.request.armature).name
    inputs = yield from _read_inputs(own, asked, rig)
    inputs = replace(inputs, target=replace(inputs.target, named="learned"))
    title = f"{name}: {rig.clip.name}"
    return (yield from own.make(lambda: requests.create_from(request, rig, inputs, title=title, folder=folder)))


def style_jobs(
    own: Preparation, asked: TrainRequest, rig: RigMotion, neutral: Content, styles: Sequence[str] = VARIANTS
) -> Slices[list[jobs.Job]]:
    """Make a job for every style of one motion, all begun from one neutral controller, or none.

    They are a batch: whoever has made them starts them, or the monitor does in turn.
    """
    known = [style for style in styles if style in VARIANTS]
    if len(known) != len(styles) or not known:
        raise BadSettings("Those are no styles that need only the motion itself", f"Choose from: {', '.join(VARIANTS)}")
    inputs = yield from _read_inputs(own, asked, rig)
    batch, makes = new_id(rig.clip.name), []
    attachments = yield lambda: {**resolve_attachments(inputs.attachments), NEUTRAL: neutral}  # once for all of them
    for number, style in enumerate(known, start=1):
        label = LABELS[style].lower()
        varied = {"batch": batch, "variation": number, "varied": {"style": style}, "named": label}
        given = replace(inputs, attachments=attachments, target=replace(inputs.target, **varied))
        wanted = replace(asked.request, settings={**(asked.request.settings or {}), "style": style})
        makes.append(partial(requests.create_from, wanted, rig, given, title=f"{rig.clip.name}: {label}"))
    return (yield from own.make_all(makes))


def _read_inputs(own: Preparation, asked: TrainRequest, rig: RigMotion) -> Slices[Inputs]:
    """What travels with the job: body, stage and bounds."""
    own.text = "Reading body and bounds"
    inputs = yield from requests.inputs_in_slices(asked.request, rig, slice_s=own.slice_s)
    attachments = {**inputs.attachments, **(asked.more or {})}
    if asked.own:
        body = inputs.attachments[BODY]
        assert not callable(body)  # what is chosen for it costs nothing to read
        attachments |= attach_bounds((yield from read_bounds(own, asked.request, rig, body)))
    own.text = "Getting ready"
    return replace(inputs, attachments=attachments)


def read_bounds(own: Preparation, request: Request, rig: RigMotion, body: Attachment) -> Slices[Bounds]:
    """The armature's bounds in every frame of the clip. body: what the job is told of it.

    Which links a body has does not depend on its mesh, which would only give them other shapes.
    """
    choices = BodyChoices.from_mapping(body[1])
    plain = yield lambda: build_plain_body(rig.clip, choices)
    obj = requests.find_armature(request.armature)
    require_parts(obj, plain)
    parts = parts_of(obj)
    widths = yield from read_widths(obj, rig, requests.find_action(request.action), slice_s=own.slice_s)
    return bounds_for(plain, parts, widths)
