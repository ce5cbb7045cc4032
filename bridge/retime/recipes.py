# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe of Retime and Reach: read motion and targets, make the job, and leave the rest to the monitor."""

from dataclasses import replace
from pathlib import Path

from ...core import jobs
from ...core.control.character import BODY, build_plain_body
from ...core.control.editing.constraints import make_edits_attachment
from ...core.control.editing.retime_method import require_possible_edits
from ..body.body_inputs import read_body_request
from ..jobs import monitor, notices
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.requests import create_from, find_armature, inputs_in_slices
from ..scene.time_slicing import Slices
from .moments import RetimeRequest, number_frames, read_edits


def retime_recipe(request: RetimeRequest) -> Recipe:
    """Make the job and start its worker; what cannot be is refused before there is a job."""

    def steps(own: Preparation) -> Slices[Outcome]:
        python = yield from own.find_worker()
        job = yield from retime_job(own, request)
        said = monitor.start(job, own.scene, python, "Retiming")
        notices.forget_errors(request.source)
        return Outcome(said)

    return steps


def retime_job(own: Preparation, request: RetimeRequest, folder: Path | None = None) -> Slices[jobs.Job]:
    """Read what is asked for, and make the job. folder: None is a new one among the user's jobs."""
    source = request.source
    rig = yield from own.read(source)
    choices = read_body_request(find_armature(source.armature)).checked()
    choices.require_bones(rig.clip.skeleton)
    own.text = "Looking at the motion"
    body = yield lambda: build_plain_body(rig.clip, choices)
    own.text = "Reading the target"
    edits = yield from read_edits(own.scene, request, rig, body, own.slice_s)
    numbers = number_frames(rig)
    require_possible_edits(rig.clip, *edits, request.settings, numbers)
    yield None
    inputs = yield from inputs_in_slices(source, rig, slice_s=own.slice_s)
    more = {BODY: ({}, choices.to_mapping()), **make_edits_attachment(*edits, numbers)}
    inputs = replace(inputs, attachments={**inputs.attachments, **more})
    own.text = "Getting ready"
    job: jobs.Job = yield from own.make(lambda: create_from(source, rig, inputs, folder=folder))
    return job
