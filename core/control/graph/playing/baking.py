# SPDX-License-Identifier: GPL-3.0-or-later
"""From a learned graph to takes: characters are put on a stage, played, and filmed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....body import BodyModel
from ....body.poses import link_transforms
from ....geometry.quaternions import Array, rotate
from ....motion import Clip
from ....sim.engine import SensorRows, World
from ...tracking.facing import rotate_pose_about_z, twist_angle
from ...tracking.recording import RecordedCharacter, Recording
from ...tracking.reference import CONTROL_FPS
from ..model.control_graph import ControlGraph
from ..model.fragments import Indices
from .player import MotionPlanner, PlayedCharacter, Player


@dataclass(frozen=True, eq=False)
class Place:
    """Where a character begins: metres in the plane (2,), and radians from +X that it faces."""

    at: Array
    heading: float


@dataclass(frozen=True, eq=False)
class Bake:
    """What was played: a film, who is on it, and by character the fragments (K,), -1 while down, and its falls."""

    film: Recording
    subjects: tuple[RecordedCharacter, ...]
    fragments: tuple[Indices, ...]
    falls: tuple[int, ...]


def start_state(
    world: World, graphs: Sequence[ControlGraph], places: Sequence[Place], fragments: Sequence[int]
) -> Array:
    """(state_size,) of everybody at their places, at the start of their fragments."""
    poses, rates = [], []
    for graph, place, fragment in zip(graphs, places, fragments, strict=True):
        qpos, qvel = rotate_pose_about_z(
            np.array(place.heading), graph.track.qpos[fragment, 0], graph.track.rates[fragment, 0]
        )
        qpos[:2] += place.at
        poses.append(qpos)
        rates.append(qvel)
    return np.asarray(world.state_of(np.concatenate(poses)[None], np.concatenate(rates)[None])[0])


def bake_characters(
    world: World,
    graphs: Sequence[ControlGraph],
    plans: Sequence[MotionPlanner],
    places: Sequence[Place],
    sources: Sequence[Clip],
    seconds: float,
    look: Callable[[float], None],
    fragments: Sequence[int] | None = None,
) -> Bake:
    """Play everybody for so many seconds. look: called with the share that is done."""
    begin = [0] * len(graphs) if fragments is None else list(fragments)
    actors = [PlayedCharacter(graph, plan, first) for graph, plan, first in zip(graphs, plans, begin, strict=True)]
    player = Player(world, actors, start_state(world, graphs, places, begin))
    count = max(round(seconds * CONTROL_FPS), 1)
    states, rows, targets, muscle = [player.state], [player.rows], [], []
    wanted = [[player.wanted(who)] for who in range(len(actors))]
    trails = [[actor.fragment] for actor in actors]
    for step in range(count):
        asked, strength = player.step()
        states.append(player.state)
        rows.append(player.rows)
        targets.append(asked)
        muscle.append(strength)
        for who, actor in enumerate(actors):
            wanted[who].append(player.wanted(who))
            trails[who].append(actor.fragment if actor.down_s is None else -1)
        look((step + 1) / count)
    qpos, qvel = world.pose_of(np.array(states))
    film = Recording(world.stage, qpos, qvel, np.array([targets[0], *targets]), _concatenate_rows(rows))
    strengths = np.array([muscle[0], *muscle])
    subjects = tuple(
        _subject(graph.body, source, graph, np.array(poses), strengths[:, who])
        for who, (graph, source, poses) in enumerate(zip(graphs, sources, wanted, strict=True))
    )
    return Bake(film, subjects, tuple(np.array(trail) for trail in trails), tuple(actor.falls for actor in actors))


def _subject(body: BodyModel, source: Clip, graph: ControlGraph, wanted: Array, muscle: Array) -> RecordedCharacter:
    pos, quat = link_transforms(body, wanted)
    mass = np.array([link.mass for link in body.links])
    centres = pos + rotate(quat, np.broadcast_to([link.com for link in body.links], pos.shape))
    com = np.einsum("l,tlx->tx", mass / mass.sum(), centres)
    return RecordedCharacter(body, source, graph.track.space, muscle, pos, quat, com)


def _concatenate_rows(rows: Sequence[SensorRows]) -> SensorRows:
    """Rows (1, 1, ...) of moments as (1, K, ...)."""
    return SensorRows(**{name: np.concatenate([getattr(one, name) for one in rows], axis=1) for name in vars(rows[0])})


def place_of_pose(qpos: Array, upright_wxyz: Array) -> Place:
    """Where a pose (nq,) stands and faces."""
    return Place(np.array(qpos[:2]), float(twist_angle(qpos[3:7], upright_wxyz)))
