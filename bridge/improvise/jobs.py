# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that learn, test and bake what improvises."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy

from ...core import jobs
from ...core.control.direct.features import FPS
from ...core.control.direct.learned_file import TrainedDirector
from ...core.control.improvise.bake_method import ImproviseBake
from ...core.control.improvise.learned_file import Improviser
from ...core.control.learned import Content
from ...core.control.method import Method
from ...core.control.registry import get_method
from ...core.control.tracking.library_files import LIBRARY_FILE, StoredLibrary
from ...core.errors import BadFile
from ...core.jobs import Target
from ...core.motion import Clip, Skeleton
from ..jobs import requests
from ..jobs.preparing import Preparation
from ..learned.learned_file import Learned
from ..methods.job_inputs import BakeRequest, FamilyRequest, bake_job
from ..scene.time_slicing import Slices
from ..takes.marks import ensure_mark


@dataclass(frozen=True)
class ImproviseRequest(BakeRequest):
    """What is to be baked."""


def library_skeleton(learned: Learned) -> Skeleton:
    """The bones of a library that says what body it is for; another one is refused."""
    model = learned.model
    stored = model.stored if isinstance(model, TrainedDirector) else model
    if not isinstance(stored, StoredLibrary):
        raise BadFile(f"'{learned.path}' does not say what body its clips are for", "Build it again with this Sinew")
    return stored.body.skeleton


def train_job(
    method: Method, request: FamilyRequest, library: Learned, target: Target | None = None, folder: Path | None = None
) -> jobs.Job:
    """The job that learns from a library; without a target it is for no armature. For any thread."""
    name = library.path.name.removesuffix(LIBRARY_FILE.ending)
    return _create(
        library_skeleton(library), method, request, name, {LIBRARY_FILE.attachment: library.content}, target, folder
    )


def improviser_job(
    method: Method, request: FamilyRequest, learned: Learned, target: Target | None = None, folder: Path | None = None
) -> jobs.Job:
    """The job that tests an improviser, or learns a task with it. For any thread."""
    improviser: Improviser = learned.model
    kind = method.learned
    assert kind is not None
    name = learned.path.name.removesuffix(kind.ending)
    attached = {kind.attachment: learned.content}
    return _create(improviser.body.skeleton, method, request, name, attached, target, folder)


def _create(
    skeleton: Skeleton,
    method: Method,
    request: FamilyRequest,
    name: str,
    attachments: dict[str, Content],
    target: Target | None,
    folder: Path | None,
) -> jobs.Job:
    rest = Clip(skeleton, FPS, skeleton.rest_pos[None], skeleton.rest_quat_wxyz[None], "rest")
    return jobs.create(
        rest,
        method=method.name,
        settings=request.settings,
        engine=request.engine,
        seed=request.seed,
        title=f"{request.armature}: {name}" if request.armature else name,
        target=target,
        attachments=attachments,
        folder=folder,
    )


def learn_target(method: Method, armature: str) -> Target:
    """Where what is learned goes."""
    obj = requests.find_armature(armature)
    words: dict[str, Any] = {"named": method.result_name, "named_after": "armature", "mark": ensure_mark(obj)}
    return Target(armature=obj.name, blend=bpy.data.filepath, **words)


def improvise_bake_job(
    own: Preparation, request: ImproviseRequest, learned: Learned, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Read where everybody stands, and the stage, and make the job of their takes."""
    seconds = float(request.settings.get("seconds", 10.0))
    request = replace(request, seconds=seconds)
    return (yield from bake_job(own, get_method(ImproviseBake.name), request, learned, folder))
