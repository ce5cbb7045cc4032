# SPDX-License-Identifier: GPL-3.0-or-later
"""From a library and what the scene wishes to a job that makes a directed take."""

from pathlib import Path

import numpy as np

from ...core import jobs
from ...core.control.character import build_plain_body
from ...core.control.direct.bake_method import DirectBake
from ...core.control.matching.guides import WishGuide
from ...core.control.matching.wish import WISH
from ...core.control.registry import get_method
from ...core.control.tracking.skeleton_matching import describe_skeleton_difference
from ...core.control.tracking_policy.learned_file import directed_body, directed_skeleton
from ...core.errors import RigError
from ...core.motion import Skeleton
from ...core.sim.variations import trunk_bone
from ..body.body_inputs import read_body_request
from ..jobs import requests
from ..jobs.preparing import Preparation
from ..learned.learned_file import Learned
from ..methods.job_inputs import play_job, read_beginning
from ..rig.rig_reader import RigMotion
from ..rig.standing import match_skeleton
from ..scene.time_slicing import Slices
from .wishes import DirectRequest, read_body_root, read_wish


def direct_job(
    own: Preparation, request: DirectRequest, learned: Learned, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Read where to go, the character and the stage, and make the job. Refuses what cannot be, with its fix."""
    own.title, director = request.armature, learned.model
    rig = yield from read_beginning(request, own.slice_s)
    rig = put_on_library(rig, directed_skeleton(director), request.armature)
    yield None
    choices = read_body_request(requests.find_armature(request.armature)).checked()
    body = yield lambda: directed_body(director, lambda clip: build_plain_body(clip, choices))
    own.text = "Reading where to go"
    wish = yield from read_wish(own.scene, request, rig, read_body_root(body), own.slice_s)
    own.text = "Getting ready"
    method = get_method(DirectBake.name)
    heading = WishGuide(wish, wish.styles).start()[1]
    bone, ahead = trunk_bone(body), np.array([np.cos(heading), np.sin(heading), 0.0])
    pushes = tuple(
        push.place(number, bone, request.armature, ahead) for number, push in enumerate(request.pushes, start=1)
    )
    return (yield from play_job(own, method, request, learned, rig, {WISH: wish.to_arrays()}, folder, pushes))


def put_on_library(rig: RigMotion, skeleton: Skeleton, armature: str) -> RigMotion:
    """The character on the library's skeleton; refuses one with other bones."""
    found = match_skeleton(rig, skeleton)
    if not found.clip.skeleton.same_bones(skeleton):
        why = describe_skeleton_difference(skeleton, rig.clip.skeleton)
        raise RigError(
            f"The library is of another skeleton than that of '{armature}': {why}",
            "Choose the library of this character, or build one for it",
        )
    return found
