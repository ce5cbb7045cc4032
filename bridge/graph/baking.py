# SPDX-License-Identifier: GPL-3.0-or-later
"""From a learned graph to a job that plays it on the stage as it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core import jobs
from ...core.control.cast import CastMember, make_member_attachments
from ...core.control.tracking.skeleton_matching import describe_skeleton_difference
from ...core.errors import GraphError
from ...core.files import Attachment
from ...core.motion import Clip, Skeleton
from ...core.sim.assembly import require_places_apart
from ...core.sim.stage_io import stage_to_arrays
from ...core.sim.stage_parts import PushPart
from ..body import body_inputs
from ..body.body_inputs import BodyRequest
from ..rig import sources
from ..rig.rig_reader import RigMotion, read_rig
from ..rig.rig_writer import require_writable
from ..stage import read_stage
from ..stage.cast import other_characters
from .files import ATTACHMENT, Learned
from .paths import begun_on, read_path
from .skills import standing_as

METHOD = "graph_bake"
_NAMES = {"SEQUENCE": "sequence", "WALK": "random walk", "PATH": "path", "PUSHED": "pushed", "MEET": "collision"}


@dataclass(frozen=True)
class BakeRequest:
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


def create(request: BakeRequest, learned: Learned, folder: Path | None = None) -> jobs.Job:
    """Make the job that bakes what was learned. Refuses what cannot be, with its fix."""
    scene, obj = bpy.context.scene, bpy.context.scene.objects[request.armature]
    cast = _cast(scene, obj, request, learned.graph.body.skeleton)
    _require_mode(scene, request, cast)
    path = _path(scene, request, cast[obj.name].metres_per_unit) if request.mode == "PATH" else None
    if path is not None and request.from_start:
        clip = begun_on(learned.graph.body, cast[obj.name].clip, path[0]["points"])
        cast[obj.name] = replace(cast[obj.name], clip=clip)
    _require_apart(cast)
    rig = cast[obj.name]
    stage = read_stage(scene, cast)
    stage = replace(stage, pushes=(*stage.pushes, *request.pushes))
    attachments: dict[str, Attachment] = {
        "rig": rig.to_arrays(),
        ATTACHMENT: learned.content,
        "stage": stage_to_arrays(stage),
        **body_inputs.read_body_attachments(obj, rig, request.body),
    }
    for number, (name, its) in enumerate(list(cast.items())[1:], start=1):
        own = {"rig": its.to_arrays(), **body_inputs.read_body_attachments(scene.objects[name], its)}
        attachments |= make_member_attachments(CastMember(name, its.clip, number), own)
    if path is not None:
        attachments["path"] = path
    return jobs.create(
        rig.clip,
        method=METHOD,
        settings=settings_of(request),
        engine=request.engine,
        seed=request.seed,
        title=f"{obj.name}: {_NAMES[request.mode]}",
        target=_target(request, list(cast)),
        attachments=attachments,
        folder=folder,
    )


def settings_of(request: BakeRequest) -> dict[str, Any]:
    """What the method is told. A pushed run is a sequence of one skill: the pushes are on the stage."""
    mode = {"SEQUENCE": "sequence", "WALK": "walk", "PATH": "path", "PUSHED": "sequence", "MEET": "meet"}[request.mode]
    return {**request.settings, "mode": mode, "seconds": request.seconds, "skills": request.skills}


def standing(obj: bpy.types.Object, frame: int, seconds: float, scale: float) -> RigMotion:
    """The armature as it stands at a frame, held for so long."""
    with sources.without_takes([obj]):
        rig = read_rig(obj, frames=(frame, frame + 1), scale=scale)
    count = max(round(seconds * rig.clip.fps), 1) + 1
    held = (np.repeat(array[:1], count, axis=0) for array in (rig.clip.local_pos, rig.clip.local_quat_wxyz))
    clip = Clip(rig.clip.skeleton, rig.clip.fps, *held, rig.clip.name)
    return replace(rig, clip=clip, bone_stretch=rig.bone_stretch[:1])


def _path(scene: bpy.types.Scene, request: BakeRequest, metres_per_unit: float) -> Attachment:
    if request.points:
        points = np.array([(x, y, 0.0) for x, y in request.points])
        return {"points": points}, {"closed": len(points) > 3 and request.points[0] == request.points[-1]}
    return read_path(scene, request.curve, metres_per_unit)


def _cast(
    scene: bpy.types.Scene, obj: bpy.types.Object, request: BakeRequest, skeleton: Skeleton
) -> dict[str, RigMotion]:
    """Everybody who plays the graph, the main character first, each as it stands when the motion begins."""
    found = {}
    for one in (obj, *other_characters(scene, obj)):
        rig = standing(one, request.frame_start, request.seconds, request.scale)
        rig = standing_as(rig, skeleton)
        if rig.clip.skeleton is not skeleton:
            why = describe_skeleton_difference(skeleton, rig.clip.skeleton)
            raise GraphError(
                f"The graph was learned for another skeleton than that of '{one.name}': {why}",
                "Choose the graph of this character, or learn one for it",
            )
        require_writable(one, skeleton.names, request.place)
        found[one.name] = rig
    return found


def _require_apart(cast: Mapping[str, RigMotion]) -> None:
    """Refuse characters that begin in one place."""
    clips = [rig.clip for rig in cast.values()]
    places = np.array([clip.world()[0][0].mean(axis=0) for clip in clips])
    require_places_apart(list(cast), places, [clip.skeleton for clip in clips])


def _require_mode(scene: bpy.types.Scene, request: BakeRequest, cast: Mapping[str, RigMotion]) -> None:
    """Refuse what the scene lacks for what is to be baked."""
    if reason := why_not_mode(scene, request, len(cast)):
        message, _, hint = reason.partition(": ")
        raise GraphError(message, hint)


def why_not_mode(scene: bpy.types.Scene, request: BakeRequest, characters: int) -> str:
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


def _target(request: BakeRequest, names: list[str]) -> dict[str, Any]:
    """Where the takes go; each armature's source is what moves it now."""
    sourced = [(name, sources.prior_animation(bpy.context.scene.objects[name]).action) for name in names]
    everybody = [{"armature": name, "action": action.name if action else ""} for name, action in sourced]
    target = {
        **everybody[0],
        "place": request.place,
        "blend": bpy.data.filepath,
        "named": _NAMES[request.mode],
        "named_after": "armature",
    }
    return target | ({"cast": everybody[1:]} if len(everybody) > 1 else {})
