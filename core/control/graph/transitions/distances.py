# SPDX-License-Identifier: GPL-3.0-or-later
"""How far moments of skills are from each other, and the transitions that this suggests.

Two moments are compared as two clouds of points, the links' centres of mass with their velocities. One cloud is moved
over the floor and turned about the vertical to where it fits the other best: where a character stands and which way it
looks is no difference, how high it is and how it leans is.
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
# What is nearer than this is good to have, whether it is needed or not: metres. More costs more to learn.
GOOD_M = 0.1


@dataclass(frozen=True)
class Candidate:
    """A transition that could be, and the distance in metres between its two moments."""

    transition: Transition
    distance: float


@dataclass(frozen=True, eq=False)
class PointClouds:
    """Moments of a motion as clouds of L points.

    pos: (K, L, 3) metres above the floor, with the middle of the cloud over the origin. vel: (K, L, 3) m/s.
    weight: (L,) how much each point counts; the sum is 1.
    """

    pos: Array
    vel: Array
    weight: Array


def skill_distances(body: BodyModel, source: Skill, target: Skill) -> Array:
    """(S, T) metres between the fragment boundaries of two skills; the last one of a cycle is its first again."""
    first = point_clouds_of(body, source)
    return point_cloud_distances(first, first if source is target else point_clouds_of(body, target))


def point_clouds_of(body: BodyModel, skill: Skill) -> PointClouds:
    """A skill's fragment boundaries; a cycle's are seen among other cycles."""
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
    """(L,) how much each link counts. By mass alone feet and hands would hardly be seen; by number, twists would."""
    weight = np.sqrt([link.mass for link in body.links])
    return np.asarray(weight / weight.sum())


def point_cloud_distances(first: PointClouds, second: PointClouds) -> Array:
    """(S, T) metres between moments, each pair placed and turned to where it fits best."""
    one, two = (_flatten_clouds(moments) for moments in (first, second))
    # Of all turns about the vertical, the best one leaves this much of the product of the level parts.
    along = np.hypot(
        one["x"] @ two["x"].T + one["y"] @ two["y"].T,
        one["y"] @ two["x"].T - one["x"] @ two["y"].T,
    )
    squares = [sum(np.sum(cloud[axis] ** 2, axis=1) for axis in "xyz") for cloud in (one, two)]
    left = squares[0][:, None] + squares[1][None] - 2.0 * (along + one["z"] @ two["z"].T)
    return np.sqrt(np.maximum(left, 0.0))


def _flatten_clouds(moments: PointClouds) -> dict[str, Array]:
    """By axis (K, 2 L) positions and velocities, scaled so that squares of differences add up to a distance."""
    scale = np.sqrt(moments.weight)
    return {
        axis: np.concatenate([scale * moments.pos[..., i], VELOCITY_S * scale * moments.vel[..., i]], axis=1)
        for i, axis in enumerate("xyz")
    }


def find_candidates(body: BodyModel, skills: Sequence[Skill], per_pair: int = 1) -> list[Candidate]:
    """The best transitions from every skill to every other, the nearest first.

    What is played once is left at its end and entered at its beginning; a get-up is left at its end and never entered.
    """
    if per_pair < 1:
        raise GraphError(f"{per_pair} transitions for each pair of skills are none", "Ask for one or more")
    MotionGraph(tuple(skills))
    moments = {skill.name: point_clouds_of(body, skill) for skill in skills}
    found: list[Candidate] = []
    for source in skills:
        for target in skills:
            if source is not target and target.kind != "rise":
                between = point_cloud_distances(moments[source.name], moments[target.name])
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
    """The transitions that make a graph whole with the smallest distances, and others that are as good."""
    return tuple(one.transition for one in select_candidates(skills, find_candidates(body, skills)))


def select_candidates(skills: Sequence[Skill], found: Sequence[Candidate]) -> list[Candidate]:
    """Candidates without those that are neither near nor needed for the graph to be whole, the nearest first.

    A get-up has one way out, into a cycle if there is any: who has just fallen does not jump at once.
    """
    kinds = {skill.name: skill.kind for skill in skills}

    def last_resort(one: Candidate) -> bool:
        way = one.transition
        return kinds[way.source] == "rise" and kinds[way.target] != "cycle"

    kept = sorted(found, key=lambda one: (last_resort(one), one.distance))
    # Taken away from the far end, the ones that stay are the nearest that can do it.
    for one in reversed(tuple(kept)):
        rest = [other for other in kept if other is not one]
        wanted = one.distance <= GOOD_M and kinds[one.transition.source] != "rise"
        if not wanted and _is_connected(skills, rest):
            kept = rest
    return sorted(kept, key=lambda one: one.distance)


def _is_connected(skills: Sequence[Skill], found: Sequence[Candidate]) -> bool:
    try:
        MotionGraph(tuple(skills), tuple(one.transition for one in found)).require_whole()
    except GraphError:
        return False
    return True
