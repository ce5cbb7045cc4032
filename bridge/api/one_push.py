# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes given on the command line, by force or by the reaction that is wanted."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...core import jobs
from ...core.control import registry
from ...core.control.staging import STAGE
from ...core.errors import BadSettings
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import INTENTS
from ...core.sim.variations import SIDES, add_push_part
from ..jobs import requests
from ..jobs.batches import plain_body_of
from ..rig.rig_reader import RigMotion

_PUSH = re.compile(r"(?P<what>[a-z]+|[0-9.]+)@(?P<start>[0-9.]+)(:(?P<side>[a-z]+))?", re.IGNORECASE)
_BEGIN_N = 200.0  # of a push whose strength is to be found; only its direction counts


@dataclass(frozen=True)
class OnePush:
    """A push on the trunk. intent: the reaction that its newtons are to be found for, '' for as many as these."""

    push_n: float
    at_s: float
    side: str
    intent: str = ""


def parse_push(text: str) -> OnePush:
    """A push from a text such as '200@1.5:left' or 'stagger@1.5'."""
    match = _PUSH.fullmatch(text.strip())
    intents, sides = [one[0] for one in INTENTS], [side[0] for side in SIDES if side[0] != "any"]
    try:
        if match is None:
            raise ValueError
        what, side = match["what"].lower(), (match["side"] or "front").lower()
        intent = what if what in intents else ""
        push = OnePush(_BEGIN_N if intent else float(what), float(match["start"]), side, intent)
        if side not in sides or not (math.isfinite(push.push_n) and math.isfinite(push.at_s)):
            raise ValueError
    except ValueError:
        hint = f"Write newtons or {', '.join(intents)}, then @seconds:side, such as 200@1.5:left or stagger@1.5"
        raise BadSettings(
            f"'{text}' is no push",
            f"{hint}; sides are {', '.join(sides)}. For a range of forces say how many takes with --variations N",
        ) from None
    return push


def create_pushed_job(
    request: requests.Request, rig: RigMotion, pushes: Sequence[OnePush], folder: Path | None
) -> jobs.Job:
    """Make the job's folder, with these pushes on its stage besides those of the scene."""
    if not pushes:
        return requests.create_job(request, rig, folder)
    inputs = requests.inputs_of(request, rig)
    if inputs.parts is None:
        label = registry.get_method(request.method).label
        raise BadSettings(f"Method '{label}' has no physics, so that nothing can be pushed", "Choose another method")
    parts, body = inputs.parts, plain_body_of(rig, inputs)
    for push in pushes:
        parts = add_push_part(parts, rig.clip, body, push.push_n, push.at_s, push.side, push.intent)
    attachments = {**inputs.attachments, STAGE: stage_to_arrays(parts)}
    return requests.create_from(request, rig, replace(inputs, parts=parts, attachments=attachments), folder=folder)
