# SPDX-License-Identifier: GPL-3.0-or-later
"""From a learned controller to a job that plays it, alone or on the stage as it is."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import bpy

from ...core import jobs
from ...core.control.bounds.learned_file import CONTROLLER
from ...core.control.bounds.playback import require_length
from ...core.control.tracking.skeleton_matching import describe_skeleton_difference
from ...core.errors import BoundsError
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import PushPart, StageParts
from ..body.body_inputs import BodyRequest
from ..jobs import requests
from ..jobs.preparing import Preparation, do_at_once
from ..learned.learned_file import Learned
from ..rig import sources
from ..rig.rig_writer import require_writable
from ..rig.standing import match_skeleton, read_standing_pose
from ..scene.time_slicing import Slices

METHOD = "bounds_bake"


@dataclass(frozen=True)
class ControllerBakeRequest:
    """What is to be baked from a controller.

    seconds: how long, 0 for as long as what was learned. frame_start: where the motion begins. alone: on flat ground,
    whatever is on the stage. pushes: besides those on the stage. scale: metres a Blender unit.
    """

    armature: str
    seconds: float = 0.0
    frame_start: int = 1
    alone: bool = False
    pushes: tuple[PushPart, ...] = ()
    engine: str = "auto"
    seed: int = 0
    scale: float = 1.0
    place: str = "AUTO"
    body: BodyRequest | None = None


def bake_controller_job(
    own: Preparation, asked: ControllerBakeRequest, learned: Learned, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Make the job that bakes what was learned, begun where the armature stands; refuses what cannot be."""
    obj, controller = requests.find_armature(asked.armature), learned.model
    require_length(controller.reference, asked.seconds)
    seconds = asked.seconds or controller.reference.duration_s
    request = requests.Request(
        armature=obj.name,
        method=METHOD,
        settings={"seconds": asked.seconds},
        engine=asked.engine,
        seed=asked.seed,
        scale=asked.scale,
        place=asked.place,
        body=asked.body,
    )
    rig = yield from read_standing_pose(obj, asked.frame_start, seconds, asked.scale, own.slice_s)
    rig, obj = match_skeleton(rig, controller.body.skeleton), requests.find_armature(asked.armature)
    if different := describe_skeleton_difference(controller.body.skeleton, rig.clip.skeleton):
        raise BoundsError(
            f"The controller was learned for another skeleton than that of '{obj.name}': {different}",
            "Train one for this armature, or choose one that was learned for it",
        )
    require_writable(obj, rig.clip.skeleton.names, asked.place)
    source = sources.prior_animation(obj).action
    action, title = source.name if source else "", f"{obj.name}: {learned.path.stem}"
    own.text = "Reading the stage"
    yield None
    inputs = yield from requests.inputs_in_slices(request, rig, slice_s=own.slice_s)
    assert inputs.parts is not None  # the method simulates
    parts = StageParts(characters=inputs.parts.characters) if asked.alone else inputs.parts
    parts = replace(parts, pushes=(*parts.pushes, *asked.pushes))
    named = "pushed" if parts.pushes else "learned"
    target = replace(inputs.target, action=action, named=named, named_after="armature")
    more = {CONTROLLER.attachment: learned.content, "stage": partial(stage_to_arrays, parts)}
    inputs = replace(inputs, attachments={**inputs.attachments, **more}, target=target)
    own.text = "Getting ready"
    return (yield from own.make(lambda: requests.create_from(request, rig, inputs, title=title, folder=folder)))


def create_controller_bake(asked: ControllerBakeRequest, learned: Learned, folder: Path | None = None) -> jobs.Job:
    """The same at once."""
    return do_at_once(lambda own: bake_controller_job(own, asked, learned, folder))


def comes_something(scene: bpy.types.Scene) -> bool:
    """Whether the stage has anything that the character could meet. Cheap enough for ``draw``."""
    roles = {"PUSH", "PROJECTILE", "PROP", "OBSTACLE", "TERRAIN"}
    return any(obj.sinew.role in roles and obj.visible_get() for obj in scene.objects)
