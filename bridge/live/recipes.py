# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of live sessions: what a session is made of, and recordings that are made again."""

import shutil
from dataclasses import replace
from pathlib import Path

import bpy

from ...core import jobs
from ...core.control.live.commands import DropBox, LiveRecording, ThrowBall
from ...core.control.live.method import LiveSettings, make_commands_attachment, recording_from_arrays
from ...core.control.live.things import THINGS
from ...core.control.registry import live_names
from ...core.errors import JobError
from ...core.jobs.spec import is_plain_id
from ...core.motion.io.npz import clip_from_arrays
from ...core.paths import is_plain_file
from ..body.body_inputs import read_body_request
from ..jobs import monitor
from ..jobs.preparing import Outcome, Preparation, Recipe
from ..jobs.requests import Request, create_from, find_armature, inputs_in_slices
from ..jobs.scene_request import request_of, settings_group_of, why_no_request
from ..learned.learned_file import Learned, learned_file
from ..rig.rig_reader import RigMotion
from ..rig.standing import read_standing_pose
from ..scene.settings_groups import plain_values
from ..scene.time_slicing import Slices
from .running import begin_session, make_session_folder, require_running
from .things import ensure_thing

METHOD = "live"
ACTION = live_names()[0]
_STANDING_S = 1.0  # of the pose that what was learned begins in


def live_job(
    own: Preparation,
    request: Request,
    recording: LiveRecording | None,
    folder: Path | None = None,
    learned: Learned | None = None,
) -> Slices[jobs.Job]:
    """Read motion, body and stage, and make the job. recording: None for a session that is to be driven.

    learned: what is live instead of the Action, from the armature's pose on; the request's settings say what it is.
    """
    if learned is None:
        rig = yield from own.read(request)
    else:
        frame, obj = bpy.context.scene.frame_current, find_armature(request.armature)
        own.title = obj.name
        rig = yield from read_standing_pose(obj, frame, _STANDING_S, request.scale, own.slice_s)
    own.text = "Reading the stage"
    inputs = yield from inputs_in_slices(request, rig, slice_s=own.slice_s)
    if learned is not None:
        more = {learned_file(plays_of(request)).kind.attachment: learned.content}
        inputs = replace(inputs, attachments={**inputs.attachments, **more})
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


def begin_live_recipe(request: Request, learned: Learned | None = None) -> Recipe:
    """Read everything, make the session's job, and start its worker. learned: as for ``live_job``."""

    def steps(own: Preparation) -> Slices[Outcome]:
        python = yield from own.find_worker()
        folder = make_session_folder()
        try:
            job = yield from live_job(own, request, None, folder, learned)
        except BaseException:
            shutil.rmtree(folder.parent, ignore_errors=True)
            raise
        loaded = [job.clip()]
        rigs = [RigMotion.from_arrays(loaded[0], *job.attachment("rig"))]
        names = [job.spec.target.armature]
        for number, one in enumerate(job.spec.target.cast[1:], start=1):
            clip = clip_from_arrays(*job.attachment(f"cast{number}_clip"))
            rigs.append(RigMotion.from_arrays(clip, *job.attachment(f"cast{number}_rig")))
            names.append(one.armature)
        begin_session(job, own.scene, names, rigs, python)
        return Outcome(f"'{own.title}' is getting ready to be live")

    return steps


def bake_recipe() -> Recipe:
    """Make what was recorded again without a window, as a job like any other; its take is baked when it is done."""

    def steps(own: Preparation) -> Slices[Outcome]:
        session = require_running()
        if session.recording is None:
            raise JobError("Nothing is recorded", "Press Record, do something, and press it again")
        python = yield from own.find_worker()
        job = yield from copy_job(own, session.job, session.recording)
        return Outcome(monitor.start(job, own.scene, python, "Baking"))

    return steps


def requested_session(scene: bpy.types.Scene) -> Request:
    """What is chosen in the scene, to be live."""
    request = request_of(scene)
    settings = plain_values(settings_group_of(scene, METHOD), LiveSettings)
    body = read_body_request(scene.sinew.armature)
    return replace(request, method=METHOD, settings=settings, body=body, frames=None, fade_s=None)


def why_not_live(scene: bpy.types.Scene) -> str:
    """Why nobody can be live, with the fix; '' if somebody can. Cheap enough for ``poll``."""
    plays = settings_group_of(scene, METHOD).plays
    if plays == ACTION:
        return why_no_request(scene)
    obj = scene.sinew.armature
    return "Choose an armature" if obj is None else learned_file(plays).why_none(obj)


def session_recipe(scene: bpy.types.Scene) -> Recipe:
    """What is chosen in the scene, live: the Action, or what the armature has learned."""
    request = requested_session(scene)
    plays = plays_of(request)
    return begin_live_recipe(request, None if plays == ACTION else learned_file(plays).read(scene.sinew.armature))


def plays_of(request: Request) -> str:
    """What of a live session's request is live."""
    return str((request.settings or {}).get("plays", ACTION))


def find_live_folder(obj: bpy.types.Object | None) -> Path | None:
    """The job's folder of the live take that an armature shows; None where there is none. Cheap enough for ``poll``."""
    action = obj.animation_data.action if obj is not None and obj.animation_data else None
    for row in obj.sinew_takes if action is not None and obj is not None else ():
        if row.action == action and is_plain_id(row.job):
            folder = jobs.jobs_root() / row.job
            return folder if is_plain_file(folder / "inputs" / "commands.npz") else None
    return None


def again_recipe(obj: bpy.types.Object) -> Recipe:
    """Make the live take that an armature shows again: the same commands, and the same bits."""
    name = obj.name

    def steps(own: Preparation) -> Slices[Outcome]:
        folder = find_live_folder(bpy.data.objects.get(name))
        if folder is None:
            raise JobError(f"'{name}' shows no take of a live session", "Choose one that does")
        done = jobs.open_job(folder)
        python = yield from own.find_worker()
        job = yield from copy_job(own, done, recording_of(done))
        return Outcome(monitor.start(job, own.scene, python, "Making again"))

    return steps


def copy_job(own: Preparation, source: jobs.Job, recording: LiveRecording) -> Slices[jobs.Job]:
    """A job of the same inputs as another, with a recording."""
    spec = source.spec
    names = [name.removesuffix(".npz") for name in spec.inputs if name not in ("clip.npz", "commands.npz")]
    attachments = {name: source.attachment(name) for name in names} | make_commands_attachment(recording)
    rig = attachments["rig"][1]
    ensure_recorded_things(recording, float(rig["metres_per_unit"]))
    yield None

    def make() -> jobs.Job:
        return jobs.create(
            source.clip(),
            method=METHOD,
            settings=spec.settings,
            engine=spec.engine,
            seed=spec.seed,
            title=spec.title,
            target=replace(spec.target, blend=spec.target.blend),
            attachments=attachments,
        )

    job: jobs.Job = yield from own.make(make)
    return job


def recording_of(job: jobs.Job) -> LiveRecording:
    """The recording that a job is of."""
    if job.spec.method != METHOD or "commands.npz" not in job.spec.inputs:
        raise JobError(f"'{job.spec.title}' is no take of a live session", "Choose one that is")
    return recording_from_arrays(*job.attachment("commands"))
