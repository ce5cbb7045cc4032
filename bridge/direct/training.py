# SPDX-License-Identifier: GPL-3.0-or-later
"""From a library to the job that trains a policy for it, or tests one: the file is all that either is given.

So a click and the command line train the same, and no character is needed to train for one.
"""

from pathlib import Path

import bpy

from ...core import jobs
from ...core.control.direct.train_method import BEGIN_FILE
from ...core.control.matching.features import FPS
from ...core.control.method import Method
from ...core.control.tracking_policy.learned_file import TrainedDirector, directed_skeleton
from ...core.errors import NotLearned
from ...core.jobs import Target
from ...core.motion import Clip, Skeleton
from ..jobs import requests
from ..jobs.preparing import Preparation
from ..learned.learned_file import Learned
from ..methods.job_inputs import BakeRequest, FamilyRequest
from ..rig.standing import read_standing_pose
from ..scene.time_slicing import Slices
from ..takes.marks import ensure_mark
from .baking import put_on_library


def policy_job_in_slices(
    own: Preparation,
    method: Method,
    request: BakeRequest,
    learned: Learned,
    skeleton: Skeleton | None = None,
    begin: Learned | None = None,
) -> Slices[jobs.Job]:
    """Make the job for an armature; one whose bones are not the library's is refused.

    skeleton: the library's. begin: the trained library of another character, to begin with.
    """
    skeleton = skeleton or directed_skeleton(learned.model)
    obj = requests.find_armature(request.armature)
    rig = yield from read_standing_pose(obj, request.frame_start, request.seconds, request.scale, own.slice_s)
    put_on_library(rig, skeleton, request.armature)
    obj = requests.find_armature(request.armature)
    target = Target(
        armature=obj.name,
        blend=bpy.data.filepath,
        named=method.result_name,
        named_after="armature",
        mark=ensure_mark(obj),
    )
    yield None
    return (
        yield from own.make(lambda: make_policy_job(method, request, learned, target, skeleton=skeleton, begin=begin))
    )


def make_policy_job(
    method: Method,
    request: FamilyRequest,
    learned: Learned,
    target: Target | None = None,
    folder: Path | None = None,
    skeleton: Skeleton | None = None,
    begin: Learned | None = None,
) -> jobs.Job:
    """Make the job's folder; without a target, the job is for no armature. For any thread.

    skeleton: the library's. begin: the trained library of another character, to begin with.
    """
    kind = method.learned
    assert kind is not None
    if begin is not None and not isinstance(begin.model, TrainedDirector):
        raise NotLearned(f"The library in '{begin.path}' has no policy to begin with", "Choose one that was trained")
    name = learned.path.name.removesuffix(kind.ending)
    return jobs.create(
        _rest(skeleton or directed_skeleton(learned.model)),
        method=method.name,
        settings=request.settings,
        engine=request.engine,
        seed=request.seed,
        title=f"{request.armature}: {name}" if request.armature else name,
        target=target,
        attachments={kind.attachment: learned.content} | ({} if begin is None else {BEGIN_FILE: begin.content}),
        folder=folder,
    )


def _rest(skeleton: Skeleton) -> Clip:
    """The library's skeleton at rest: every job has a clip, and this one is not looked at."""
    return Clip(skeleton, FPS, skeleton.rest_pos[None], skeleton.rest_quat_wxyz[None], "rest")
