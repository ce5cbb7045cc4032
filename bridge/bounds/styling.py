# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles of one motion: what travels with a job that learns one, and the jobs of several, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import bpy

from ...core import jobs
from ...core.control.bounds.bounds import attach_bounds
from ...core.control.bounds.controller import controller_from_arrays
from ...core.control.bounds.files import Content, read_content
from ...core.control.bounds.style.style_choice import NEUTRAL, STYLES, VARIANTS, attach_style_clip
from ...core.control.character import BODY
from ...core.errors import BadSettings
from ...core.files import Attachment
from ...core.jobs.spec import new_id
from ...core.motion import Clip
from ...core.motion.io import stock
from ..importing.importers import open_input
from ..jobs import ownership, requests
from ..jobs.requests import Request
from ..rig.rig_reader import RigMotion, read_rig
from .training import read_bounds

LABELS = {name: label for name, label, _ in STYLES}


def neutral_content(path: Path) -> Content:
    """What a controller file holds, if it holds one whole."""
    content = read_content(path.resolve())
    controller_from_arrays(*content, label=f"'{path}'")
    return content


def neutral_attachment(path: Path) -> dict[str, Attachment]:
    """What a job has for the policy that it begins with."""
    return {NEUTRAL: neutral_content(path)}


def opened_style(text: str, scale: float = 1.0) -> Clip | None:
    """The motion of a file or a stock clip, which is opened for that in place of what is open now; None for neither."""
    if not Path(text).expanduser().is_file() and text not in stock.stock_names():
        return None
    left = open_input(text, scale)
    return read_rig(requests.find_armature(), scale=left).clip


def style_of_action(request: Request, action: str) -> dict[str, Attachment]:
    """What a job has for a style that another Action of the request's armature has."""
    obj = requests.find_armature(request.armature)
    return attach_style_clip(read_rig(obj, action=requests.find_action(action), scale=request.scale).clip)


def variants(
    request: Request,
    rig: RigMotion,
    neutral: Content,
    *,
    styles: Sequence[str] = VARIANTS,
    own: bool = True,
    more: Mapping[str, Attachment] | None = None,
) -> list[jobs.Job]:
    """Make a job for every style of one motion, all begun from one neutral controller, or none.

    They are a batch: whoever has made them starts them, or the monitor does in turn. own: whether the bounds are those
    on the armature; else they are the preset of the request's settings.
    """
    known = [style for style in styles if style in VARIANTS]
    if len(known) != len(styles) or not known:
        raise BadSettings("Those are no styles that need only the motion itself", f"Choose from: {', '.join(VARIANTS)}")
    inputs = requests.inputs_of(request, rig)
    attachments = {**inputs.attachments, NEUTRAL: neutral, **(more or {})}
    if own:
        obj: bpy.types.Object = requests.find_armature(request.armature)
        action = requests.find_action(request.action)
        attachments |= attach_bounds(read_bounds(obj, rig, inputs.attachments[BODY], action))
    batch, made = new_id(rig.clip.name), []
    try:
        for number, style in enumerate(known, start=1):
            label = LABELS[style].lower()
            about = {"batch": batch, "variation": number, "varied": {"style": style}, "named": label}
            wanted = replace(request, settings={**(request.settings or {}), "style": style})
            given = replace(inputs, attachments=attachments, target={**inputs.target, **about})
            made.append(requests.create_from(wanted, rig, given, title=f"{rig.clip.name}: {label}"))
    except BaseException:
        for job in made:
            ownership.delete(job)
        raise
    return made
