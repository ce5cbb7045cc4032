# SPDX-License-Identifier: GPL-3.0-or-later
"""From a learned graph to a job that plays it on the stage as it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core import jobs
from ...core.control.cast import CastMember, make_member_attachments
from ...core.control.graph.learned_file import GRAPH
from ...core.control.tracking.skeleton_matching import describe_skeleton_difference
from ...core.errors import GraphError
from ...core.files import Attachment
from ...core.motion import Skeleton
from ...core.sim.assembly import require_places_apart
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import PushPart
from ..body.body_inputs import Attachments, BodyRequest, read_body_attachments_in_slices
from ..jobs.preparing import Preparation, do_at_once
from ..learned.learned_file import Learned
from ..rig import sources
from ..rig.rig_reader import RigMotion
from ..rig.rig_writer import require_writable
from ..rig.standing import match_skeleton, read_standing_pose
from ..scene.time_slicing import Slices
from ..stage import read_stage_in_slices
from ..stage.cast import other_characters
from ..takes.marks import ensure_mark
from .paths import begun_on, read_path

METHOD = "graph_bake"
_NAMES = {"SEQUENCE": "sequence", "WALK": "random walk", "PATH": "path", "PUSHED": "pushed", "MEET": "collision"}


@dataclass(frozen=True)
class GraphBakeRequest:
    """What is to be baked from a graph.

    mode: of ``modes.MODES``. skills: the text of a sequence; for all others the skill that goes on, '' for the first.
    curve: the name of the curve to go along; points: metres on the ground instead of it, closed if they end where they
        begin. from_start: whether the character begins where that does, facing along it, rather than where it stands.
    frame_start: where the motion begins. scale: metres a Blender unit.
    pushes: besides those on the stage. settings: what else the method may be told.
    """

    armature: str
    mode: str = "WALK"
    seconds: float = 10.0
    skills: str = ""
    curve: str = ""
    points: tuple[tuple[float, float], ...] = ()
    from_start: bool = True
    frame_start: int = 1
    seed: int = 0
    engine: str = "auto"
    scale: float = 1.0
    place: str = "AUTO"
    body: BodyRequest | None = None
    pushes: tuple[PushPart, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def bake_graph_job(
    own: Preparation, request: GraphBakeRequest, learned: Learned, folder: Path | None = None
) -> Slices[jobs.Job]:
    """Make the job that bakes what was learned. Refuses what cannot be, with its fix."""
    own.title = request.armature
    scene, graph = own.scene, learned.model
    cast = yield from _read_cast(own, request, graph.body.skeleton)
    _require_mode(scene, request, cast)
    path = _path(scene, request, cast[request.armature].metres_per_unit) if request.mode == "PATH" else None
    if path is not None and request.from_start:
        clip = begun_on(graph.body, cast[request.armature].clip, path[0]["points"])
        cast[request.armature] = replace(cast[request.armature], clip=clip)
    _require_apart(cast)
    target = _target(scene, request, list(cast))
    own.text = "Reading the stage"
    stage = yield from read_stage_in_slices(scene, cast, slice_s=own.slice_s)
    stage = replace(stage, pushes=(*stage.pushes, *request.pushes))
    attachments: Attachments = {GRAPH.attachment: learned.content, "stage": partial(stage_to_arrays, stage)}
    if path is not None:
        attachments["path"] = path
    for number, (name, rig) in enumerate(cast.items()):
        asked = None if number else request.body
        body = yield from read_body_attachments_in_slices(own.scene.objects[name], rig, asked, slice_s=own.slice_s)
        its: Attachments = {"rig": rig.to_arrays(), **body}
        attachments |= make_member_attachments(CastMember(name, rig.clip, number), its) if number else its
    own.text = "Getting ready"

    def make() -> jobs.Job:
        return jobs.create(
            cast[request.armature].clip,
            method=METHOD,
            settings=graph_bake_settings(request),
            engine=request.engine,
            seed=request.seed,
            title=f"{request.armature}: {_NAMES[request.mode]}",
            target=target,
            attachments=attachments,
            folder=folder,
        )

    return (yield from own.make(make))


def create_bake_job(request: GraphBakeRequest, learned: Learned, folder: Path | None = None) -> jobs.Job:
    """The same at once."""
    return do_at_once(lambda own: bake_graph_job(own, request, learned, folder))


def graph_bake_settings(request: GraphBakeRequest) -> dict[str, Any]:
    """What the method is told. A pushed run is a sequence of one skill: the pushes are on the stage."""
    mode = {"SEQUENCE": "sequence", "WALK": "walk", "PATH": "path", "PUSHED": "sequence", "MEET": "meet"}[request.mode]
    return {**request.settings, "mode": mode, "seconds": request.seconds, "skills": request.skills}


def _path(scene: bpy.types.Scene, request: GraphBakeRequest, metres_per_unit: float) -> Attachment:
    if request.points:
        points = np.array([(x, y, 0.0) for x, y in request.points])
        return {"points": points}, {"closed": len(points) > 3 and request.points[0] == request.points[-1]}
    return read_path(scene, request.curve, metres_per_unit)


def _read_cast(own: Preparation, request: GraphBakeRequest, skeleton: Skeleton) -> Slices[dict[str, RigMotion]]:
    """Everybody who plays the graph, the main character first, each as it stands when the motion begins."""
    scene, obj = own.scene, own.scene.objects[request.armature]
    found = {}
    for name in [one.name for one in (obj, *other_characters(scene, obj))]:
        one = own.scene.objects[name]
        rig = yield from read_standing_pose(one, request.frame_start, request.seconds, request.scale, own.slice_s)
        rig, one = match_skeleton(rig, skeleton), own.scene.objects[name]
        if rig.clip.skeleton is not skeleton:
            why = describe_skeleton_difference(skeleton, rig.clip.skeleton)
            raise GraphError(
                f"The graph was learned for another skeleton than that of '{one.name}': {why}",
                "Choose the graph of this character, or learn one for it",
            )
        require_writable(one, skeleton.names, request.place)
        found[name] = rig
        yield None
    return found


def _require_apart(cast: Mapping[str, RigMotion]) -> None:
    """Refuse characters that begin in one place."""
    clips = [rig.clip for rig in cast.values()]
    places = np.array([clip.world()[0][0].mean(axis=0) for clip in clips])
    require_places_apart(list(cast), places, [clip.skeleton for clip in clips])


def _require_mode(scene: bpy.types.Scene, request: GraphBakeRequest, cast: Mapping[str, RigMotion]) -> None:
    """Refuse what the scene lacks for what is to be baked."""
    if reason := why_not_mode(scene, request, len(cast)):
        message, _, hint = reason.partition(": ")
        raise GraphError(message, hint)


def why_not_mode(scene: bpy.types.Scene, request: GraphBakeRequest, characters: int) -> str:
    """What is missing for the mode, as 'what: fix'; '' if nothing is. Cheap enough for ``draw``."""
    if request.mode == "SEQUENCE" and not request.skills.strip():
        return "No skills are named: write them with seconds or times, such as walk 3, run 2"
    if request.mode == "PATH" and not (request.curve or request.points):
        return "No curve is chosen: choose the one to go along"
    if request.mode == "PUSHED" and not (request.pushes or _comes_flying(scene)):
        return "Nothing pushes: add a push or a projectile to the stage"
    if request.mode == "MEET" and characters < 2:
        return "Nobody else is on the stage: mark another armature as a character"
    return ""


def _comes_flying(scene: bpy.types.Scene) -> bool:
    return any(obj.sinew.role in {"PUSH", "PROJECTILE"} and obj.visible_get() for obj in scene.objects)


def _target(scene: bpy.types.Scene, request: GraphBakeRequest, names: list[str]) -> jobs.Target:
    """Where the takes go; each armature's source is what moves it now."""
    found = [scene.objects[name] for name in names]
    sourced = [(obj, sources.prior_animation(obj).action) for obj in found]
    first, *others = (
        jobs.CastTarget(obj.name, action.name if action else "", ensure_mark(obj)) for obj, action in sourced
    )
    return jobs.Target(
        armature=first.armature,
        action=first.action,
        place=request.place,
        blend=bpy.data.filepath,
        cast=tuple(others),
        mark=first.mark,
        named=_NAMES[request.mode],
        named_after="armature",
    )
