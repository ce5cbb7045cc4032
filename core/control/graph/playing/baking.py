# SPDX-License-Identifier: GPL-3.0-or-later
"""From a learned graph to a recording: characters are placed on a stage and played."""

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
    """A recording and its characters; by character the fragments (K,) at the control rate, -1 while down, and falls."""

    film: Recording
    subjects: tuple[RecordedCharacter, ...]
    fragments: tuple[Indices, ...]
    falls: tuple[int, ...]


def start_state(
    world: World, graphs: Sequence[ControlGraph], places: Sequence[Place], fragments: Sequence[int]
) -> Array:
    """(state_size,) with every character at its place, at the start of its fragment."""
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
    planners: Sequence[MotionPlanner],
    places: Sequence[Place],
    sources: Sequence[Clip],
    seconds: float,
    on_progress: Callable[[float], None],
    fragments: Sequence[int] | None = None,
) -> Bake:
    """Play all characters for so many seconds. on_progress: called with the share that is done."""
    begin = [0] * len(graphs) if fragments is None else list(fragments)
    characters = [
        PlayedCharacter(graph, planner, first) for graph, planner, first in zip(graphs, planners, begin, strict=True)
    ]
    player = Player(world, characters, start_state(world, graphs, places, begin))
    count = max(round(seconds * CONTROL_FPS), 1)
    states, rows, targets, muscle = [player.state], [player.rows], [], []
    reference_poses = [[player.reference_pose(index)] for index in range(len(characters))]
    fragment_rows = [[character.fragment] for character in characters]
    for step in range(count):
        target, strength = player.step()
        states.append(player.state)
        rows.append(player.rows)
        targets.append(target)
        muscle.append(strength)
        for index, character in enumerate(characters):
            reference_poses[index].append(player.reference_pose(index))
            fragment_rows[index].append(character.fragment if character.down_s is None else -1)
        on_progress((step + 1) / count)
    qpos, qvel = world.pose_of(np.array(states))
    film = Recording(world.stage, qpos, qvel, np.array([targets[0], *targets]), _concatenate_rows(rows))
    strengths = np.array([muscle[0], *muscle])
    subjects = tuple(
        _subject(graph.body, source, graph, np.array(poses), strengths[:, index])
        for index, (graph, source, poses) in enumerate(zip(graphs, sources, reference_poses, strict=True))
    )
    return Bake(
        film,
        subjects,
        tuple(np.array(row) for row in fragment_rows),
        tuple(character.falls for character in characters),
    )


def _subject(
    body: BodyModel, source: Clip, graph: ControlGraph, reference_poses: Array, muscle: Array
) -> RecordedCharacter:
    pos, quat = link_transforms(body, reference_poses)
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
