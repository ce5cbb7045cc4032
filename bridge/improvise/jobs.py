# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that learn, test and bake what improvises."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core import jobs
from ...core.control.improvise.bake_method import SCENE, ImproviseBake
from ...core.control.improvise.learned_file import Improviser
from ...core.control.learned import Content
from ...core.control.matching.features import FPS
from ...core.control.method import Method
from ...core.control.registry import get_method
from ...core.control.tracking.library_files import LIBRARY_FILE, StoredLibrary
from ...core.control.tracking_policy.learned_file import TrainedDirector
from ...core.errors import BadFile, BadSettings
from ...core.jobs import Target
from ...core.motion import Clip, Skeleton
from ..body.body_inputs import Attachments
from ..graph.paths import read_path
from ..jobs import requests
from ..jobs.preparing import Preparation
from ..learned.learned_file import Learned
from ..methods.job_inputs import BakeRequest, FamilyRequest, play_job, read_beginning
from ..scene.time_slicing import Slices
from ..takes.marks import ensure_mark

_ROUNDS = 20  # of a closed curve


@dataclass(frozen=True)
class ImproviseRequest(BakeRequest):
    """What is to be baked. points: metres on the ground to go to or along, where a task was learned; none for random
    ones. goals: names of objects to go to instead; curve: the name of one to go along."""

    points: tuple[tuple[float, float], ...] = ()
    goals: tuple[str, ...] = ()
    curve: str = ""


def library_skeleton(learned: Learned) -> Skeleton:
    """The bones of a library that says what body it is for; another one is refused."""
    model = learned.model
    stored = model.stored if isinstance(model, TrainedDirector) else model
    if not isinstance(stored, StoredLibrary):
        raise BadFile(f"'{learned.path}' does not say what body its clips are for", "Build it again with this Sinew")
    return stored.body.skeleton


def improvise_train_job(
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
    rig = yield from read_beginning(request, own.slice_s)
    points = (*request.points, *(_place_of(own.scene, name, rig.metres_per_unit) for name in request.goals))
    if request.curve:
        points = (*points, *_points_of(own.scene, request.curve, rig.metres_per_unit))
    improviser: Improviser = learned.model
    if points and improviser.task is None:
        raise BadSettings("What improvises has no task, and cannot go anywhere", "Let it learn one: 'improvise task'")
    more: Attachments = {SCENE: ({"points": np.array(points, dtype=float)}, {})} if points else {}
    return (yield from play_job(own, get_method(ImproviseBake.name), request, learned, rig, more, folder))


def _points_of(scene: bpy.types.Scene, name: str, metres: float) -> list[tuple[float, float]]:
    """A curve on the ground, metres; a closed one so often that nobody comes to its end."""
    arrays, about = read_path(scene, name, metres)
    points = [(float(x), float(y)) for x, y in np.asarray(arrays["points"])[:, :2]]
    return points + (_ROUNDS - 1) * points[1:] if about["closed"] else points


def _place_of(scene: bpy.types.Scene, name: str, metres: float) -> tuple[float, float]:
    """Where an object is on the ground, metres."""
    if name not in scene.objects:
        raise BadSettings(f"There is no object '{name}' in this scene", "Choose one that is there")
    x, y = (metres * float(value) for value in scene.objects[name].matrix_world.translation[:2])
    return x, y
