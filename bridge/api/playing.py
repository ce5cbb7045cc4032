# SPDX-License-Identifier: GPL-3.0-or-later
"""Verbs that make takes of what was learned or gathered: graphs, controllers, libraries, improvisers."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.control.direct.bake_method import DirectBake
from ...core.control.improvise.bake_method import ImproviseBake
from ...core.control.respond.bake_method import RespondBake
from ...core.control.respond.learned_file import responding_skeleton
from ...core.control.tracking_policy.learned_file import directed_skeleton
from ...core.sim.trunk_push import TrunkPush
from ..body.body_inputs import BodyRequest
from ..bounds.baking import ControllerBakeRequest, create_controller_bake
from ..direct.baking import direct_job
from ..direct.wishes import DirectRequest
from ..graph.baking import METHOD as GRAPH_BAKE
from ..graph.baking import GraphBakeRequest, create_bake_job
from ..improvise.jobs import ImproviseRequest, improvise_bake_job
from ..jobs.preparing import do_at_once
from ..learned.learned_file import Learned, learned_file
from ..respond.baking import RespondRequest, respond_job
from .characters import Character, Who, character, stand_in
from .graph_scenes import pushes_of, stand_up
from .library_character import find_character, stand_up_character
from .simulating import check_settings
from .trunk_pushes import parse_trunk_push
from .work import Work

Points = Sequence[tuple[float, float]]
File = Learned | str | Path
_APART_M = 2.0


def read_learned(family: str, file: File) -> Learned:
    """What is in a learned file or library. family: 'graph', 'bounds', 'direct', 'respond' or 'improvise'."""
    return file if isinstance(file, Learned) else learned_file(family).read_file(Path(file).resolve())


def bake_graph(
    graph: File,
    who: Who = None,
    *,
    mode: str = "walk",
    seconds: float = 10.0,
    skills: str = "",
    curve: str = "",
    points: Points = (),
    from_start: bool = True,
    pushes: Sequence[str] = (),
    frame: int = 1,
    place: str = "auto",
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """New motion from a graph of skills: what Bake From Graph does.

    who: without one, the scene's only character, or a new one if there is none. mode: sequence, walk, path, pushed or
    meet. skills: such as 'walk 3, run 2, kick'. curve: the scene's, to go along; points: metres instead of it.
    from_start: begin where the path does. pushes: such as '150@2:left'. settings: of the method, as are given.
    """
    learned = read_learned("graph", graph)
    check_settings(GRAPH_BAKE, settings)
    meant = _who_plays(who, learned)
    bpy.context.view_layer.update()
    request = GraphBakeRequest(
        armature=meant.armature,
        mode=mode.upper(),
        seconds=seconds,
        skills=skills,
        curve=curve,
        points=tuple(points),
        from_start=from_start,
        frame_start=frame,
        seed=seed,
        engine=engine,
        scale=meant.scale,
        place=place.upper(),
        body=body,
        pushes=pushes_of(pushes, learned.model.body, meant.obj, frame),
        settings=settings,
    )
    return Work(create_bake_job(request, learned, folder))


def bake_controller(
    controller: File | None = None,
    who: Who = None,
    *,
    seconds: float = 0.0,
    pushes: Sequence[str] = (),
    alone: bool = False,
    frame: int = 1,
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
) -> Work:
    """A take of a motion that was learned within bounds: what Bake From Controller does.

    controller: None for the one that the armature refers to. seconds: 0 for as long as what was learned. alone: on flat
    ground, whatever is on the stage. pushes: such as '150@2:left'.
    """
    learned = None if controller is None else read_learned("bounds", controller)
    meant = character(who) if learned is None else _who_plays(who, learned)
    learned = learned or learned_file("bounds").read(meant.obj)
    bpy.context.view_layer.update()
    request = ControllerBakeRequest(
        armature=meant.armature,
        seconds=seconds,
        frame_start=frame,
        alone=alone,
        pushes=pushes_of(pushes, learned.model.body, meant.obj, frame),
        engine=engine,
        seed=seed,
        scale=meant.scale,
        body=body,
    )
    return Work(create_controller_bake(request, learned, folder))


def direct(
    library: File,
    who: Who = None,
    *,
    points: Points = (),
    curve: str = "",
    target: str = "",
    speed_m_s: float | None = None,
    style: str = "",
    face: str = "",
    seconds: float = 10.0,
    pushes: Sequence[str | TrunkPush] = (),
    frame: int = 1,
    place: str = "auto",
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Let a library of motion go where it is told: what Bake Directed Take does.

    who: without one, the scene's character of the library's skeleton, or a new one. points: metres to go along, round
    and round if they end where they begin; or curve or target: the name of the scene's curve, or of an object to go
    after. speed_m_s, style, face (an object's name): without, what the armature says, keys too.
    settings: of the method, such as ``physics=False``.
    """
    learned = read_learned("direct", library)
    meant, body = _stand_in(who, directed_skeleton(learned.model), body)
    own = meant.obj.sinew_direct
    request = DirectRequest(
        armature=meant.armature,
        settings=check_settings(DirectBake.name, settings),
        engine=engine,
        seed=seed,
        scale=meant.scale,
        place=place.upper(),
        body=body,
        frame_start=frame,
        seconds=seconds,
        points=tuple(points),
        curve=curve,
        target=target,
        speed_m_s=speed_m_s,
        style=style or own.style,
        facing="OBJECT" if face else own.facing,
        look_at=face or (own.look_at.name if own.look_at else ""),
        pushes=tuple(parse_trunk_push(one) if isinstance(one, str) else one for one in pushes),
    )
    return Work(do_at_once(lambda own: direct_job(own, request, learned, folder)))


def respond(
    library: File,
    cues: Sequence[str],
    who: Who = None,
    *,
    frame: int = 1,
    place: str = "auto",
    body: BodyRequest | None = None,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Let a library of motion do deeds at frames: what Bake Cues does.

    cues: 'DEED@FRAME', with ':X,Y' or ':X,Y,DEGREES' for a place and '=X,Y,Z' for what is hit, such as
    'frontkick@96' or 'punch@200=3,2,1.4'. settings: of the method, such as ``physics=False``.
    """
    learned = read_learned("respond", library)
    meant, body = _stand_in(who, responding_skeleton(learned.model), body)
    request = RespondRequest(
        armature=meant.armature,
        settings=check_settings(RespondBake.name, settings),
        engine=engine,
        seed=seed,
        scale=meant.scale,
        place=place.upper(),
        body=body,
        frame_start=frame,
        texts=tuple(cues),
    )
    return Work(do_at_once(lambda own: respond_job(own, request, learned, folder)))


def improvise(
    improviser: File,
    who: Who = None,
    *,
    points: Points = (),
    goals: Sequence[str] = (),
    curve: str = "",
    characters: int = 1,
    engine: str = "auto",
    seed: int = 0,
    folder: Path | None = None,
    **settings: Any,
) -> Work:
    """Let characters move by themselves: what Bake Improvised Take does.

    who: without one, the scene's character of its skeleton; where nobody of it is there, so many new ones as
    ``characters`` says, which means nothing else. points: metres on the ground to go to or along where a task was
    learned; goals: names of objects instead; curve: the name of one to go along. settings: of the method, such as
    ``seconds=20.0``.
    """
    learned = read_learned("improvise", improviser)
    skeleton = learned.model.body.skeleton
    if who is None and not find_character(skeleton):
        meant = stand_around(skeleton, characters, seed, 1.0)
    else:
        meant = character(who or find_character(skeleton))
    bpy.context.view_layer.update()
    request = ImproviseRequest(
        armature=meant.armature,
        settings=check_settings(ImproviseBake.name, settings),
        engine=engine,
        seed=seed,
        scale=meant.scale,
        points=tuple(points),
        goals=tuple(goals),
        curve=curve,
    )
    return Work(do_at_once(lambda own: improvise_bake_job(own, request, learned, folder)))


def place_in_rings(count: int) -> list[tuple[float, float]]:
    """Places on the ground, metres: one in the middle, six around it, twelve around those."""
    found, ring = [(0.0, 0.0)], 1
    while len(found) < count:
        angles = np.linspace(0.0, 2.0 * np.pi, 6 * ring, endpoint=False)
        found += [(ring * _APART_M * float(np.cos(angle)), ring * _APART_M * float(np.sin(angle))) for angle in angles]
        ring += 1
    return found[:count]


def stand_around(skeleton: Any, count: int, seed: int, scale: float) -> Character:
    """New characters of a skeleton, each turned somewhere; gives the first."""
    rng, made = np.random.default_rng([seed, 6]), []
    for place in place_in_rings(count):
        obj = stand_up_character(skeleton, scale)
        obj.location[:2] = [value / scale for value in place]
        obj.rotation_euler[2] = float(rng.uniform(-math.pi, math.pi)) if count > 1 else 0.0
        made.append(obj)
    for other in made[1:]:
        other.sinew.role = "CHARACTER"
    return Character(made[0].name, scale)


def _stand_in(who: Who, skeleton: Any, body: BodyRequest | None) -> tuple[Character, BodyRequest | None]:
    """Who does it, and what its body is to be."""
    meant, made = stand_in(who, skeleton)
    if made:  # its mesh is made of its bones, and says less of a body than the tables that the library had
        body = BodyRequest(use_mesh=False) if body is None else _without_mesh(body)
    return meant, body


def _without_mesh(body: BodyRequest) -> BodyRequest:
    return replace(body, use_mesh=False)


def _who_plays(who: Who, learned: Learned) -> Character:
    """The one that is meant; else the scene's only one, or a new one in a scene of its own."""
    if who is None and not any(obj.type == "ARMATURE" for obj in bpy.context.scene.objects):
        return Character(stand_up(learned.model, 1).name)
    return character(who)
