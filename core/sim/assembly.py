# SPDX-License-Identifier: GPL-3.0-or-later
"""From stage parts and characters to a stage: meshes become convex pieces, names become numbers. In the worker."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..body import BodyModel
from ..errors import BadStage
from ..geometry.quaternions import Array
from ..motion import Skeleton
from .convex_decomposition import decompose_convex
from .engine import character_offsets
from .stage import Character, Obstacle, Prop, Push, Stage, Terrain
from .stage_changes import with_masses
from .stage_parts import Finding, PropPart, PushPart, StageParts

# Two characters whose roots are nearer than this share of their height stand in one another.
_TOO_NEAR = 0.06
ABYSS_M = -1000.0  # where the ground is that is not there


def assemble_stage(
    parts: StageParts, bodies: Sequence[BodyModel], *, while_waiting: Callable[[], None] = lambda: None
) -> tuple[Stage, tuple[Finding, ...]]:
    """The stage with everything on it, and what the animator should know, of reading the scene too.

    bodies: one for each of the parts' characters. ``while_waiting`` as for ``decompose_convex``.
    """
    characters = tuple(
        Character(body, name, parts.self_collision) for name, body in zip(parts.characters, bodies, strict=True)
    )
    if parts.mass_factor != 1.0 and characters:
        first = characters[0]
        masses = parts.mass_factor * np.array([link.mass for link in first.body.links])
        characters = (replace(first, body=with_masses(first.body, masses)), *characters[1:])
    findings = list(parts.findings)
    obstacles = []
    for part in parts.obstacles:
        pieces, found = decompose_convex(part.name, part.mesh, while_waiting=while_waiting)
        obstacles.append(Obstacle(part.name, pieces, part.friction))
        findings += found
    props = []
    for prop in parts.props:
        made, found = _prop(prop, while_waiting)
        props.append(made)
        findings += found
    stage = Stage(
        characters,
        terrain=parts.terrain if parts.terrain is not None or parts.ground else _abyss(),
        obstacles=tuple(obstacles),
        props=tuple(props),
        pushes=tuple(_push(push, characters) for push in parts.pushes),
        gravity=np.asarray(parts.gravity),
        friction=parts.friction,
    )
    return stage, tuple(findings)


def require_apart(stage: Stage, qpos: Array) -> None:
    """Refuse characters that begin in one place, naming them: no engine could get them apart.

    qpos: (sum nq,) the pose that all characters begin in.
    """
    roots = np.array([qpos[start : start + 3] for start in character_offsets(stage)["nq"][:-1]])
    skeletons = [character.body.skeleton for character in stage.characters]
    require_places_apart([character.name for character in stage.characters], roots, skeletons)


def require_places_apart(names: Sequence[str], places: Array, skeletons: Sequence[Skeleton]) -> None:
    """The same by places (C, 3) in metres and skeletons alone: before there are bodies."""
    heights = np.array([_height(skeleton) for skeleton in skeletons])
    apart = np.linalg.norm(places[:, None] - places, axis=-1)
    near = apart < _TOO_NEAR * np.minimum(heights[:, None], heights)
    for together in near:
        if together.sum() > 1:  # each is near to itself
            quoted = ", ".join(f"'{names[index] or f'number {index + 1}'}'" for index in np.flatnonzero(together))
            raise BadStage(f"Characters {quoted} begin in one place", "Move them apart, so that they do not overlap")


def _prop(part: PropPart, while_waiting: Callable[[], None]) -> tuple[Prop, tuple[Finding, ...]]:
    pieces: tuple[Array, ...] = ()
    found: tuple[Finding, ...] = ()
    if part.mesh is not None:
        pieces, found = decompose_convex(part.name, part.mesh, while_waiting=while_waiting)
    prop = Prop(
        part.name,
        part.mass,
        np.asarray(part.pos),
        shape=part.shape,
        pieces=pieces,
        quat_wxyz=np.asarray(part.quat_wxyz),
        velocity=np.asarray(part.velocity),
        appears_s=part.appears_s,
        friction=part.friction,
        intent=part.intent,
    )
    return prop, found


def _push(part: PushPart, characters: Sequence[Character]) -> Push:
    names = [character.name for character in characters]
    if part.character not in names:
        raise BadStage(
            f"Push '{part.name}' is for '{part.character}', who is not on the stage", "Choose another armature for it"
        )
    index = names.index(part.character)
    if characters[index].body.link_of(part.bone) < 0:
        links = ", ".join(link.bone for link in characters[index].body.links)
        raise BadStage(
            f"Push '{part.name}' acts on '{part.bone}', which has no body", f"Choose one of its bones that do: {links}"
        )
    return Push(index, part.bone, np.asarray(part.force), part.start_s, part.duration_s, part.name, part.intent)


def _height(skeleton: Skeleton) -> float:
    heads, _ = skeleton.rest_world()
    return float(np.ptp(heads, axis=0).max())


def _abyss() -> Terrain:
    """No ground: a floor so far down that nothing gets there before the clip ends."""
    return Terrain(np.full((2, 2), ABYSS_M), 2000.0, np.array([-1000.0, -1000.0]))
