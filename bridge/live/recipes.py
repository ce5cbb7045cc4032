# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of live sessions: what a session is made of, and recordings that are made again."""

from dataclasses import replace
from pathlib import Path

from ...core import jobs
from ...core.control.live.commands import DropBox, LiveRecording, ThrowBall
from ...core.control.live.method import make_commands_attachment
from ...core.control.live.things import THINGS
from ..jobs.preparing import Preparation
from ..jobs.requests import Request, create_from, inputs_in_slices
from ..scene.time_slicing import Slices
from .things import ensure_thing

METHOD = "live"


def live_job(
    own: Preparation, request: Request, recording: LiveRecording | None, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Read motion, body and stage, and make the job. recording: None for a session that is to be driven."""
    rig = yield from own.read(request)
    own.text = "Reading the stage"
    inputs = yield from inputs_in_slices(request, rig, slice_s=own.slice_s)
    if recording is not None:
        ensure_recorded_things(recording, rig.metres_per_unit)
        more = make_commands_attachment(recording)
        inputs = replace(inputs, attachments={**inputs.attachments, **more})
    own.text = "Getting ready"
    job: jobs.Job = yield from own.make(lambda: create_from(request, rig, inputs, folder=folder))
    return job


def ensure_recorded_things(recording: LiveRecording, metres_per_unit: float) -> None:
    """Objects for what is thrown and dropped in a recording, so that its take has something to move."""
    for kind, of in (("ball", ThrowBall), ("box", DropBox)):
        count = sum(isinstance(command, of) and command.frame < recording.end for command in recording.commands)
        for thing in [thing for thing in THINGS if thing.kind == kind][:count]:
            ensure_thing(thing.name, metres_per_unit)
