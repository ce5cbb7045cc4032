# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature to a job and home again: what the operators and the command line both call."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...core import jobs
from ...core.control import registry
from ...core.control.cast import CastMember, make_member_attachments
from ...core.control.frame_range import make_range_attachment
from ...core.control.method import Product
from ...core.errors import CannotWrite, JobError, RigError
from ...core.jobs import CastTarget, Target
from ...core.motion.checks import require_simulatable
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import StageParts
from .. import takes
from ..body import muscle
from ..body.body_inputs import Attachments, BodyRequest, read_body_attachments_in_slices, resolve_attachments
from ..rig import keyed_properties
from ..rig.rig_reader import RigMotion, RigReading, loop_rig, trim_rig
from ..rig.rig_writer import WrittenAction, require_writable
from ..scene.time_slicing import SLICE_S, Slices, run_all_slices
from ..stage import read_stage_in_slices
from ..stage.cast import Cast, read_cast_in_slices
from ..stage.timing import Clock
from ..takes.marks import ensure_mark
from ..takes.muscle_keys import find_stray_keys
from ..takes.write_takes import LoadedResult, PreparedTakes, write_stage_takes
from .learned_results import keep_learned_files
from .take_words import describe_take

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """What an animator asks for, with everything named rather than held.

    action: the Action's name, '' for whatever moves the armature now.
    frames: first and last scene frame, both included; None for the Action's own.
    fade_s: seconds over which the simulated ``frames`` are faded into the rest of the Action, all of which is in the
        take then; None for a take of those frames alone.
    true_fps: the frame rate at which the motion is right, where the file's label is wrong.
    scale: metres a Blender unit, on top of the scene's unit scale.
    cycles: how many times a cyclic motion is played.
    place: where the result goes; one of ``placing.PLACES``.
    body: what the body is to be otherwise than the armature itself says.
    muscle: (scene frame, 0 to 1) keys instead of what the armature says.
    """

    armature: str
    action: str = ""
    method: str = "passthrough"
    settings: Mapping[str, Any] | None = None
    engine: str = "auto"
    seed: int = 0
    frames: tuple[int, int] | None = None
    fade_s: float | None = None
    true_fps: float | None = None
    scale: float = 1.0
    cycles: int = 1
    place: str = "AUTO"
    body: BodyRequest | None = None
    muscle: tuple[tuple[float, float], ...] | None = None


def find_armature(name: str = "") -> bpy.types.Object:
    """The armature of that name, or the only one in the scene."""
    armatures = {obj.name: obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE"}
    if name in armatures:
        return armatures[name]
    names = ", ".join(f"'{found}'" for found in armatures)
    if name:
        hint = f"The armatures here are: {names}" if names else "There is no armature in this scene"
        raise RigError(f"There is no armature '{name}'", hint)
    if not armatures:
        raise RigError("There is no armature in this scene", "Add or import one that has an Action")
    if len(armatures) > 1:
        raise RigError(f"There are several armatures: {names}", "Choose one with --armature NAME")
    return next(iter(armatures.values()))


def find_action(name: str) -> bpy.types.Action | None:
    """The Action of that name; '' for None, which means whatever moves the armature now."""
    if not name:
        return None
    action = bpy.data.actions.get(name)
    if action is None:
        names = ", ".join(f"'{found.name}'" for found in bpy.data.actions) or "none"
        raise RigError(f"There is no Action '{name}'", f"The Actions here are: {names}")
    return action


def read(request: Request) -> RigMotion:
    """Read what the request is about, and refuse at once what could not be simulated or written later."""
    reading = begin_to_read(request)
    reading.advance()
    return finish_reading(request, reading)


def begin_to_read(request: Request) -> RigReading:
    """A reading of what the request is about, which can be gone on with a little at a time."""
    obj = find_armature(request.armature)
    require_writable(obj, [bone.name for bone in obj.pose.bones], request.place)
    return RigReading(
        obj,
        action=find_action(request.action),
        frames=request.frames if request.fade_s is None else None,
        true_fps=request.true_fps,
        scale=request.scale,
        without_takes=bool(request.action),
    )


def finish_reading(request: Request, reading: RigReading) -> RigMotion:
    """The motion, once everything is read; refuses what could not be simulated. For any thread."""
    rig = reading.finish()
    if Product.LEARNED_FILE in registry.get_method(request.method).makes:
        rig = trim_rig(rig)  # what is learned has no frames of its source to keep
    if request.cycles != 1:
        rig = loop_rig(rig, request.cycles)
    require_simulatable(rig.clip, trim=trims_source(request))
    return rig


def trims_source(request: Request) -> bool:
    """Whether what is no motion in the source is left out of what is made of it."""
    return (request.settings or {}).get("trim", "auto") == "auto"


@dataclass(frozen=True)
class Inputs:
    """What a job is made of besides the clip. parts: the stage, None for a method without physics."""

    attachments: Attachments
    target: Target
    parts: StageParts | None


def create_job(request: Request, rig: RigMotion, folder: Path | None = None) -> jobs.Job:
    """Make the job's folder. ``folder`` None is a new one among the user's jobs."""
    return create_from(request, rig, inputs_of(request, rig), folder=folder)


def inputs_of(request: Request, rig: RigMotion) -> Inputs:
    """Read what travels with the job: bodies, muscle, stage and everybody else."""
    inputs = run_all_slices(inputs_in_slices(request, rig, slice_s=float("inf")))
    return replace(inputs, attachments=dict(resolve_attachments(inputs.attachments)))


def inputs_in_slices(request: Request, rig: RigMotion, *, slice_s: float = SLICE_S) -> Slices[Inputs]:
    """The same, a little at a time; what takes long and needs no Blender is left to who makes the job's folder."""
    name = find_armature(request.armature).name
    attachments: Attachments = {"rig": rig.to_arrays(), **_range_attachment(request, rig)}
    stage, cast = None, Cast({name: rig})
    if registry.get_method(request.method).uses_engine:
        obj, action = find_armature(name), find_action(request.action)
        attachments |= yield from read_body_attachments_in_slices(obj, rig, request.body, action, slice_s=slice_s)
        yield None
        obj, action = find_armature(name), find_action(request.action)
        attachments |= yield from muscle.read_muscle_attachment_in_slices(
            obj, rig, action, request.muscle, slice_s=slice_s
        )
        yield None
        stage, cast = yield from stage_for(request, rig, slice_s=slice_s)
        stray = find_stray_keys(find_armature(name)) if request.muscle is None else ()
        stage = replace(stage, findings=(*stray, *stage.findings))
        attachments["stage"] = partial(stage_to_arrays, stage)
        attachments |= yield from _attachments_of_others(cast, slice_s)
    target = Target(
        armature=name,
        action=request.action or rig.clip.name,
        place=request.place,
        blend=bpy.data.filepath,
        named=registry.get_method(request.method).result_name,
        cast=tuple(_cast_target(name, action) for name, action in cast.actions.items()) if cast.others else (),
        mark=ensure_mark(find_armature(name)),
    )
    return Inputs(attachments, target, stage)


def _range_attachment(request: Request, rig: RigMotion) -> Attachments:
    """What says that only some frames are simulated, of a motion that was read as a whole."""
    if request.frames is None or request.fade_s is None:
        return {}
    first, last = request.frames
    begin, end = keyed_properties.scene_frames(rig)[[0, -1]]
    if last <= first or first >= end or last <= begin:
        raise RigError(
            f"Frames {first} to {last} have nothing of '{rig.clip.name}' in them",
            f"Choose frames between {begin:g} and {end:g}",
        )
    clock = Clock.of(rig)
    return make_range_attachment(clock.seconds(first), clock.seconds(last), request.fade_s)


def create_from(
    request: Request, rig: RigMotion, inputs: Inputs, *, title: str = "", folder: Path | None = None
) -> jobs.Job:
    """Make the job's folder from what was read before."""
    number, settings = inputs.target.variation, dict(request.settings or {})
    words = describe_take(request.method, settings, request.engine, inputs.parts, number)
    return jobs.create(
        rig.clip,
        method=request.method,
        settings=settings,
        engine=request.engine,
        seed=request.seed,
        title=title or rig.clip.name,
        target=replace(inputs.target, words=words),
        attachments=inputs.attachments,
        folder=folder,
    )


def _cast_target(name: str, action: str) -> CastTarget:
    return CastTarget(name, action, ensure_mark(find_armature(name)))


def stage_for(request: Request, rig: RigMotion, *, slice_s: float = SLICE_S) -> Slices[tuple[StageParts, Cast]]:
    """The same a little at a time, and everybody whom the method simulates on it, the main one first."""
    obj = find_armature(request.armature)
    cast = Cast({obj.name: rig})
    if registry.get_method(request.method).simulates_cast:
        cast = yield from read_cast_in_slices(bpy.context.scene, obj, rig, request.place, slice_s=slice_s)
    parts = yield from read_stage_in_slices(bpy.context.scene, cast.motions, slice_s=slice_s)
    return replace(parts, findings=(*cast.findings, *parts.findings)), cast


def _attachments_of_others(cast: Cast, slice_s: float) -> Slices[Attachments]:
    """What travels with the job for everybody but the main character."""
    found: Attachments = {}
    for number, (name, rig) in enumerate(cast.others.items(), start=1):
        obj, action = find_armature(name), find_action(cast.actions[name])
        own = yield from read_body_attachments_in_slices(obj, rig, None, action, slice_s=slice_s)
        found |= make_member_attachments(CastMember(name, rig.clip, number), {"rig": rig.to_arrays(), **own})
    return found


def collect(
    job: jobs.Job, ready: PreparedTakes | None = None, files: Mapping[str, Path] | None = None
) -> WrittenAction:
    """Bake a finished job's take as new Actions: everybody's and everything's, or none. The caller owns the undo step.

    ready: what of it was done before; what is not used of it is gone afterwards. files: kind of learned file -> where
    the caller wants it, over what is there; without, it is kept beside the .blend. Gives the main character's, with
    the others' and the props' in it.
    """
    try:
        return _collect(job, ready, files or {})
    except BaseException:
        if ready is not None:
            ready.drop()
        raise


def _collect(job: jobs.Job, ready: PreparedTakes | None, files: Mapping[str, Path]) -> WrittenAction:
    if not job.spec.target.armature:
        job.result()  # says what else is wrong with it
        raise JobError(f"Job '{job.spec.title}' was not started from an armature", "Read its result/take.npz instead")
    ready = ready or PreparedTakes(LoadedResult.of(job))
    result = ready.loaded.result
    learned = keep_learned_files(job, files)
    characters = write_stage_takes(job, ready)
    for file, path in learned:
        if not job.spec.target.batch:  # of several the armature takes none by itself
            file.refer(characters[0].obj, path)
    for one in characters:
        takes.add_take(one.obj, one.written, job, result, take=one.take, source=one.source)
    written = characters[0].written
    baked = {"action": written.action.name, "object": written.obj.name, "blend": bpy.data.filepath}
    baked |= {file.kind.name: str(path) for file, path in learned}
    for kind in ("others", "props"):
        if made := getattr(written, kind):
            baked[kind] = [{"action": one.action.name, "object": one.obj.name} for one in made]
    try:
        job.mark_collected(baked)
    except CannotWrite as error:  # the Action is here, which is what counts; the job will only be offered again
        _log.warning("%s", error)
    return written
