# SPDX-License-Identifier: GPL-3.0-or-later
"""Point cloud distances between moments of skills (Kovar et al., Motion Graphs, 2002), and candidate transitions.

Two moments are compared as two point clouds, the links' centres of mass with their velocities. One cloud is moved over
the floor and turned about the vertical to where it fits the other best: place and heading of a character make no
difference, its height and its lean do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....body.clearance import floor_height
from ....body.model import BodyModel
from ....body.poses import link_transforms, pose_of_clip
from ....errors import GraphError
from ....geometry.differences import velocity
from ....geometry.quaternions import Array, rotate
from ...tracking.reference import CONTROL_FPS
from ...tracking.source_preparation import clean_source
from .motion_graph import MotionGraph, Skill, Transition

# A difference in velocity counts as much as what it comes to in this time.
VELOCITY_S = 0.1
# Metres: candidates nearer than this are kept even if the graph is connected without them. More cost more to learn.
GOOD_M = 0.1


@dataclass(frozen=True)
class Candidate:
    """A possible transition, and the distance in metres between its two moments."""

    transition: Transition
    distance: float


@dataclass(frozen=True, eq=False)
class PointClouds:
    """K moments of a motion as clouds of L points.

    pos: (K, L, 3) metres above the floor, with the middle of the cloud over the origin. vel: (K, L, 3) m/s.
    weight: (L,) how much each point counts; the sum is 1.
    """

    pos: Array
    vel: Array
    weight: Array


def point_clouds_of(body: BodyModel, skill: Skill) -> PointClouds:
    """Point clouds at a skill's fragment boundaries; a cycle's are taken from among other cycles."""
    MotionGraph((skill,)).require_body(body)
    cycles = skill.kind == "cycle" and skill.closes
    clip, _ = clean_source(skill.clip, cycles=3 if cycles else 1)
    steady = clip.resample(CONTROL_FPS)
    centres = link_centres(body, pose_of_clip(body, steady)[0])
    centres[..., 2] -= floor_height(body, clip)
    speeds = velocity(centres, steady.dt_s)
    times_s = skill.boundaries_s + (skill.duration_s if cycles else 0.0)
    frames = np.clip(np.round(times_s * CONTROL_FPS).astype(int), 0, len(steady) - 1)
    weight = point_weights(body)
    pos = centres[frames]
    pos[..., :2] -= np.sum(weight[:, None] * pos[..., :2], axis=1, keepdims=True)
    return PointClouds(pos, speeds[frames], weight)


def link_centres(body: BodyModel, qpos: Array) -> Array:
    """(..., L, 3) metres: the links' centres of mass in poses (..., nq)."""
    pos, quat = link_transforms(body, qpos)
    return np.asarray(pos + rotate(quat, np.broadcast_to([link.com for link in body.links], pos.shape)))


def point_weights(body: BodyModel) -> Array:
    """(L,) weights of links: roots of masses. By mass alone feet and hands would hardly count."""
    weight = np.sqrt([link.mass for link in body.links])
    return np.asarray(weight / weight.sum())


def point_cloud_distances(first: PointClouds, second: PointClouds) -> Array:
    """(S, T) metres between moments, each pair placed and turned to where it fits best."""
    one, two = (_flatten_clouds(clouds) for clouds in (first, second))
    # Of all turns about the vertical, the best one leaves this much of the product of the level parts.
    along = np.hypot(
        one["x"] @ two["x"].T + one["y"] @ two["y"].T,
        one["y"] @ two["x"].T - one["x"] @ two["y"].T,
    )
    squares = [sum(np.sum(cloud[axis] ** 2, axis=1) for axis in "xyz") for cloud in (one, two)]
    left = squares[0][:, None] + squares[1][None] - 2.0 * (along + one["z"] @ two["z"].T)
    return np.sqrt(np.maximum(left, 0.0))


def _flatten_clouds(clouds: PointClouds) -> dict[str, Array]:
    """By axis (K, 2 L) positions and velocities, scaled so that squares of differences add up to a distance."""
    scale = np.sqrt(clouds.weight)
    return {
        axis: np.concatenate([scale * clouds.pos[..., i], VELOCITY_S * scale * clouds.vel[..., i]], axis=1)
        for i, axis in enumerate("xyz")
    }


def find_candidates(body: BodyModel, skills: Sequence[Skill], per_pair: int = 1) -> list[Candidate]:
    """The best transitions from every skill to every other, by distance.

    What is played once is left at its end and entered at its beginning; a get-up is left at its end and never entered.
    """
    if per_pair < 1:
        raise GraphError(f"{per_pair} transitions for each pair of skills are none", "Ask for one or more")
    MotionGraph(tuple(skills))
    clouds = {skill.name: point_clouds_of(body, skill) for skill in skills}
    found: list[Candidate] = []
    for source in skills:
        for target in skills:
            if source is not target and target.kind != "rise":
                between = point_cloud_distances(clouds[source.name], clouds[target.name])
                found += _local_minima(source, target, between)[:per_pair]
    return sorted(found, key=lambda one: (one.distance, str(one.transition)))


def _local_minima(source: Skill, target: Skill, between: Array) -> list[Candidate]:
    """Local minima of distances (S, T) among the moments that may be left and entered, the nearest first."""
    leave = np.arange(source.fragments) if source.kind == "cycle" else np.array([source.fragments])
    enter = np.arange(target.fragments) if target.kind == "cycle" else np.array([0])
    allowed = between[np.ix_(leave, enter)]
    around = np.pad(allowed, 1, mode="wrap")  # alone in its direction, a moment is its own neighbour
    rows, columns = allowed.shape
    beside = [around[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    minima = np.argwhere(allowed <= np.min(beside, axis=0))
    made = [
        Candidate(
            Transition(
                source.name,
                float(source.boundaries_s[leave[row]]),
                target.name,
                float(target.boundaries_s[enter[column]]),
            ),
            float(allowed[row, column]),
        )
        for row, column in minima
    ]
    return sorted(made, key=lambda one: (one.distance, one.transition.leave_s, one.transition.enter_s))


def propose_transitions(body: BodyModel, skills: Sequence[Skill]) -> tuple[Transition, ...]:
    """The transitions of smallest distance that connect a graph, and others as near as ``GOOD_M``."""
    return tuple(one.transition for one in select_candidates(skills, find_candidates(body, skills)))


def select_candidates(skills: Sequence[Skill], found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates without those that are neither near nor needed to connect the graph, by distance.

    A get-up has one exit, into a cycle if there is any: a character that has just fallen does not jump at once.
    """
    kinds = {skill.name: skill.kind for skill in skills}

    def last_resort(one: Candidate) -> bool:
        transition = one.transition
        return kinds[transition.source] == "rise" and kinds[transition.target] != "cycle"

    kept = sorted(found, key=lambda one: (last_resort(one), one.distance))
    # Removed from the far end, so that the nearest ones that connect the graph stay.
    for one in reversed(tuple(kept)):
        rest = [other for other in kept if other is not one]
        wanted = one.distance <= GOOD_M and kinds[one.transition.source] != "rise"
        if not wanted and _is_connected(skills, rest):
            kept = rest
    return sorted(kept, key=lambda one: one.distance)


def _is_connected(skills: Sequence[Skill], found: Sequence[Candidate]) -> bool:
    try:
        MotionGraph(tuple(skills), tuple(one.transition for one in found)).require_connected()
    except GraphError:
        return False
    return True
