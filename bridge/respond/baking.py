# SPDX-License-Identifier: GPL-3.0-or-later
"""From a library and cues to the job that makes a take of them."""

from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np

from ...core import jobs
from ...core.control.registry import get_method
from ...core.control.respond.bake_method import RespondBake
from ...core.control.respond.cues import CUES, Cue, cues_to_arrays, make_cue, parse_cue, sort_cues
from ...core.control.respond.goals import require_known
from ...core.control.respond.learned_file import library_of
from ...core.errors import BadSettings
from ..direct.baking import put_on_library
from ..jobs.preparing import Preparation
from ..learned.learned_file import Learned
from ..methods.job_inputs import BakeRequest, play_job, read_beginning
from ..rig.keyed_properties import sample_property_in_slices
from ..rig.rig_reader import RigMotion
from ..scene.time_slicing import Slices

_AFTER_S = 2.0  # that a take goes on after its last cue


@dataclass(frozen=True)
class SceneCue:
    """A cue as a scene has it: the deed, its frame, and the names of objects that say place and target, '' for none."""

    deed: str
    frame: int
    target: str = ""
    hit: str = ""


@dataclass(frozen=True)
class RespondRequest(BakeRequest):
    """What a character is asked for. texts: cues as ``parse_cue`` reads them. cues: those of the scene."""

    texts: tuple[str, ...] = ()
    cues: tuple[SceneCue, ...] = ()


def respond_job(
    own: Preparation, request: RespondRequest, learned: Learned, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Read cues, the character and the stage, and make the job. Refuses what cannot be, with its fix."""
    stored = library_of(learned.model)
    own.title = request.armature
    _require_cues(request)
    rate = own.scene.render.fps / own.scene.render.fps_base
    last = max((_frame_of(text) for text in request.texts), default=0.0)
    last = max(last, *(float(cue.frame) for cue in request.cues)) if request.cues else last
    request = replace(request, seconds=max((last - request.frame_start) / rate, 0.0) + _AFTER_S)
    rig = yield from read_beginning(request, own.slice_s)
    rig = put_on_library(rig, stored.body.skeleton, request.armature)
    own.text = "Reading cues"
    cues = yield from _read_cues(own.scene, request, rig, own.slice_s)
    own.text = "Getting ready"
    yield lambda: require_known(stored, cues)
    attached = {CUES: cues_to_arrays(cues, request.frame_start, rig.scene_fps)}
    return (yield from play_job(own, get_method(RespondBake.name), request, learned, rig, attached, folder))


def _require_cues(request: RespondRequest) -> None:
    for text in request.texts:
        parse_cue(text, request.frame_start, 24.0)
    if not request.texts and not request.cues:
        raise BadSettings("There are no cues", "Ask for a deed at a frame, such as frontkick@96")


def _frame_of(text: str) -> float:
    return parse_cue(text, -np.inf, 24.0).frame


def _read_cues(
    scene: bpy.types.Scene, request: RespondRequest, rig: RigMotion, slice_s: float
) -> Slices[tuple[Cue, ...]]:
    """Cues in the order of time, with the places of their targets at their frames."""
    found = [parse_cue(text, request.frame_start, rig.scene_fps) for text in request.texts]
    for cue in request.cues:
        points = []
        for name in (cue.target, cue.hit):
            if name and name not in scene.objects:
                raise BadSettings(f"There is no object '{name}' in this scene", "Choose one that is there")
            point = None
            if name:
                point = yield from _read_point(scene, request.armature, name, cue.frame, rig.metres_per_unit, slice_s)
            points.append(point)
        place = None if points[0] is None else points[0][:2]
        found.append(make_cue(cue.deed, cue.frame, request.frame_start, rig.scene_fps, place, None, points[1]))
    return sort_cues(found)


def _read_point(
    scene: bpy.types.Scene, armature: str, name: str, frame: int, metres: float, slice_s: float
) -> Slices[tuple[float, float, float]]:
    """Where an object is at a frame, in metres; it may be animated."""

    def read(evaluated: bpy.types.Object) -> list[float]:
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return list(bpy.context.scene.objects[name].evaluated_get(depsgraph).matrix_world.translation)

    frames = np.array([float(frame)])
    rows = yield from sample_property_in_slices(scene.objects[armature], None, frames, read, slice_s=slice_s)
    x, y, z = (metres * float(value) for value in rows[0])
    return x, y, z
