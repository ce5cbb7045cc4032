# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene to a job, by what its method declares to take: a clip, several, a library, or a learned file."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from ...core import jobs
from ...core.control.method import Method, Source
from ...core.control.staging import STAGE
from ...core.errors import RigError
from ...core.motion.library import LIBRARY, make_library
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import PushPart
from ..body.body_inputs import Attachments, BodyRequest
from ..jobs import requests
from ..jobs.preparing import Preparation
from ..jobs.requests import Request, create_from, inputs_in_slices
from ..learned.learned_file import Learned
from ..rig import actions, sources
from ..rig.rest_bones import BONE_CHANNEL
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import require_writable
from ..rig.standing import match_skeleton, read_standing_pose
from ..scene.time_slicing import SLICE_S, Slices


@dataclass(frozen=True)
class FamilyRequest:
    """What is asked of a family's method, with everything named rather than held.

    scale: metres a Blender unit. place: where a take goes. body: as in ``Request``.
    """

    armature: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    engine: str = "auto"
    seed: int = 0
    scale: float = 1.0
    place: str = "AUTO"
    body: BodyRequest | None = None

    def for_method(self, method: Method, source: Request) -> Request:
        """The request for a job of this method; source: what of it says which motion is read."""
        names = ("settings", "engine", "seed", "scale", "place", "body")
        return replace(source, method=method.name, fade_s=None, **{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class LearnRequest(FamilyRequest):
    """What is to be learned.

    actions: names or patterns of the Actions of a library, none for all. source: what a single clip is read by.
    """

    actions: tuple[str, ...] = ()
    source: Request | None = None


@dataclass(frozen=True)
class BakeRequest(FamilyRequest):
    """What is to be made from a learned file.

    frame_start: where it begins; the character stands as it does then. seconds: how long the pose is held that the
    method is given as its clip; what it makes may last longer.
    """

    frame_start: int = 1
    seconds: float = 1.0


def own_actions(obj: bpy.types.Object) -> list[bpy.types.Action]:
    """Every Action of the file that was made for this armature and is no take."""
    takes = {row.action for row in obj.sinew_takes} if hasattr(obj, "sinew_takes") else set()
    found = []
    for action in bpy.data.actions:
        slot = actions.slot_for(action, obj)
        if slot is None or action in takes or sources.is_take(action):
            continue
        channels = (BONE_CHANNEL.match(curve.data_path) for curve in actions.curves_of(action, slot))
        bones = {bpy.utils.unescape_identifier(channel[1]) for channel in channels if channel}
        if bones and bones <= {bone.name for bone in obj.data.bones}:
            found.append(action)
    return found


def chosen_actions(obj: bpy.types.Object, words: tuple[str, ...]) -> list[str]:
    """The names of the armature's own Actions that fit one of the words, all where there are none."""
    known = [action.name for action in own_actions(obj)]
    for word in words:
        if not any(fnmatchcase(name, word) for name in known):
            names = ", ".join(f"'{name}'" for name in known) or "none"
            raise RigError(f"No Action of '{obj.name}' is called '{word}'", f"Its Actions are: {names}")
    chosen = [name for name in known if not words or any(fnmatchcase(name, word) for word in words)]
    if not chosen:
        raise RigError(f"No Action moves the bones of '{obj.name}'", "Import or make one")
    return chosen


def learn_job(own: Preparation, method: Method, request: LearnRequest, folder: Path | None = None) -> Slices[jobs.Job]:
    """Read what the method takes, and make the job that learns from it."""
    source = request.for_method(method, request.source or Request(request.armature))
    more: Attachments = {}
    if method.takes is Source.CLIP:
        rig, title = (yield from own.read(source)), ""
    else:
        names = chosen_actions(requests.find_armature(request.armature), request.actions)
        rigs = yield from _read_all(own, source, names)
        rig, title = rigs[0], f"{request.armature}: {len(rigs)} clips"
        source = replace(source, action=names[0])
        more[LIBRARY] = lambda: make_library([one.clip for one in rigs]).to_arrays()
    inputs = yield from inputs_in_slices(source, rig, slice_s=own.slice_s)
    kind = method.learned
    assert kind is not None
    after = "" if method.takes is Source.CLIP else "armature"
    target = replace(inputs.target, named=method.result_name, named_after=after)
    inputs = replace(inputs, attachments={**inputs.attachments, **more}, target=target)
    return (yield from own.make(lambda: create_from(source, rig, inputs, title=title, folder=folder)))


def _read_all(own: Preparation, source: Request, names: list[str]) -> Slices[list[RigMotion]]:
    """Every Action of the list as a motion of one skeleton."""
    rigs: list[RigMotion] = []
    for number, name in enumerate(names, start=1):
        own.text = f"Reading '{name}', {number} of {len(names)}"
        rig = yield from own.read(replace(source, action=name, frames=None, cycles=1))
        rigs.append(match_skeleton(rig, rigs[0].clip.skeleton) if rigs else rig)
    own.text = "Getting ready"
    return rigs


def bake_job(
    own: Preparation, method: Method, request: BakeRequest, learned: Learned, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Read the pose to begin in and the stage, and make the job that plays or measures what was learned."""
    rig = yield from read_beginning(request, own.slice_s)
    return (yield from play_job(own, method, request, learned, rig, folder=folder))


def read_beginning(request: BakeRequest, slice_s: float = SLICE_S) -> Slices[RigMotion]:
    """The pose that the character begins in, of an armature that a take can be written to."""
    obj = requests.find_armature(request.armature)
    rig = yield from read_standing_pose(obj, request.frame_start, request.seconds, request.scale, slice_s)
    require_writable(requests.find_armature(request.armature), rig.clip.skeleton.names, request.place)
    return rig


def play_job(
    own: Preparation,
    method: Method,
    request: BakeRequest,
    learned: Learned,
    rig: RigMotion,
    more: Attachments | None = None,
    folder: Path | None = None,
    pushes: tuple[PushPart, ...] = (),
) -> Slices[jobs.Job]:
    """Read the stage, and make the job that plays or measures what was learned from a pose on.

    more: attachments. pushes: besides those on the stage.
    """
    source = request.for_method(method, Request(request.armature))
    inputs = yield from inputs_in_slices(source, rig, slice_s=own.slice_s)
    kind = method.learned
    assert kind is not None
    action = sources.prior_animation(requests.find_armature(request.armature)).action
    named = {"named": method.result_name or kind.label, "named_after": "armature"}
    target = replace(inputs.target, action=action.name if action else "", **named)
    attachments: Attachments = {**inputs.attachments, kind.attachment: learned.content, **(more or {})}
    if pushes and inputs.parts is not None:
        parts = replace(inputs.parts, pushes=(*inputs.parts.pushes, *pushes))
        inputs, attachments[STAGE] = replace(inputs, parts=parts), partial(stage_to_arrays, parts)
    inputs = replace(inputs, attachments=attachments, target=target)
    title = f"{request.armature}: {learned.path.name.removesuffix(kind.ending)}"
    return (yield from own.make(lambda: create_from(source, rig, inputs, title=title, folder=folder)))
