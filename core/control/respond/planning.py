# SPDX-License-Identifier: GPL-3.0-or-later
"""The exact answer to a cue: which frames to play so that the goal is there in exactly so many frames.

Without a place that is the cheapest path of the tables. With one it is a beam search whose estimate of what is still to
come is the paper's lower bound (equation 8): D(i, t), and how far T(i, t) ends from where the cue wants the root.
"""

from dataclasses import dataclass

import numpy as np

from ...geometry.quaternions import Array
from ..matching.matching import Complex
from .pose_features import Floats
from .response_tables import LEAST_LEAD, STEP, STEPS, TRANSITION_M2, UNASKED_M2, ResponseTable, Roots
from .transition_graph import Frames, TransitionGraph

BEAM = 400
"""Paths that are followed at a time."""
PLACE_WEIGHT = 0.5
"""What a squared metre from the wished place costs, in m² of transitions."""
HEADING_WEIGHT = 0.1
"""What a squared radian from the wished heading costs."""

_SAME = 4  # paths that may be in one frame: they differ in where they are


@dataclass(frozen=True, eq=False)
class PlanningData:
    """A library made ready to be planned in.

    to_key: (M,) frames to the next key moment. ends: (M,) last frame of each frame's clip. most_m2: a transition that
    costs more is none.
    """

    features: Floats
    graph: TransitionGraph
    roots: Roots
    to_key: Frames
    ends: Frames
    most_m2: float


@dataclass(frozen=True, eq=False)
class Plan:
    """frames: (n,) of the library, to be played after the present one; the last is the goal. cost: m²."""

    frames: Frames
    cost: float


@dataclass(frozen=True)
class Wanted:
    """Where a root is to be at the goal: place (complex metres) and heading (radians), None for any.

    limb: what is to be at the place, in metres from the root in its frame; 0 for the root itself.
    """

    place: complex | None = None
    heading: float | None = None
    place_weight: float = PLACE_WEIGHT
    limb: complex = 0j

    def error(self, pos: Complex, yaw: Array) -> Array:
        """(W,) what it costs to end there."""
        found = np.zeros(len(pos))
        if self.place is not None:
            found += self.place_weight * np.abs(pos + np.exp(1j * yaw) * self.limb - self.place) ** 2
        if self.heading is not None:
            found += HEADING_WEIGHT * np.angle(np.exp(1j * (yaw - self.heading))) ** 2
        return found


def plan_response(
    planner: PlanningData,
    table: ResponseTable,
    goals: Frames,
    frame: int,
    count: int,
    pos: complex,
    yaw: float,
    want: Wanted,
) -> Plan | None:
    """The frames to play from a frame on, with the root at a place, to be at a goal in exactly ``count`` frames.

    goals: (G,) those of a deed, which are gone straight to as well; empty for a style. None where there is no way.
    """
    steps = -(-count // STEP)
    if not 1 <= steps <= STEPS:
        return None
    beam = _Beam.start(frame, pos, yaw)
    stages = [beam]
    for done in range(steps):
        left = steps - done - 1
        length = count - left * STEP if done == 0 else STEP
        beam = _expand(planner, table, goals, beam, length, left, want)
        if not len(beam.frame):
            return None
        stages.append(beam)
    return _trace(stages, int(np.argmin(beam.cost + want.error(beam.pos, beam.yaw))), count)


def trace_table(table: ResponseTable, frame: int, count: int) -> Plan:
    """The cheapest path of a table to its goal in exactly ``count`` frames, for which it has one."""
    steps, rest = divmod(count, STEP)
    frames = [np.arange(frame + 1, frame + rest + 1)]
    now = frame + rest
    for left in range(steps, 0, -1):
        target = int(table.jump[left, now])
        first = now if target < 0 else target
        frames.append(np.arange(first + 1, first + STEP + 1))
        now = first + STEP
    return Plan(np.concatenate(frames), float(table.cost[steps, frame + rest]))


@dataclass(frozen=True, eq=False)
class _Beam:
    """W paths: the frame each is in, where its root is, what it has cost, and how it came there.

    source: (W,) path of the beam before; played: (W,) the frame from which it was played on; length: of that, frames.
    """

    frame: Frames
    pos: Complex
    yaw: Array
    cost: Array
    source: Frames
    played: Frames
    length: int

    @staticmethod
    def start(frame: int, pos: complex, yaw: float) -> "_Beam":
        none = np.zeros(1, dtype=np.int64)
        return _Beam(np.array([frame]), np.array([pos]), np.array([yaw]), np.zeros(1), none, none, 0)


def _expand(
    planner: PlanningData, table: ResponseTable, goals: Frames, beam: _Beam, length: int, left: int, want: Wanted
) -> _Beam:
    """The best paths that are a step longer. left: steps after that."""
    source, before, played, price = _offer(planner, goals, beam, length, left)
    ends = planner.ends[played]
    passed = planner.to_key[played] < length
    arrive = np.minimum(played + length, ends)
    rest = table.cost[left, arrive].astype(float)
    cost = beam.cost[source] + price + np.where(passed, UNASKED_M2, 0.0)
    fits = (played + length <= ends) & np.isfinite(cost + rest)
    source, before, played, arrive, cost, rest = (array[fits] for array in (source, before, played, arrive, cost, rest))
    roots = planner.roots
    drift, late = roots.drift(before, played)
    way, turn = roots.play(played, arrive)
    heading = np.exp(1j * beam.yaw[source])
    pos = beam.pos[source] + heading * (drift + way)
    yaw = beam.yaw[source] + turn + late
    # Where the rest of the cheapest path would end, and what that costs.
    last, faced = pos + np.exp(1j * yaw) * table.way[left, arrive], yaw + table.turn[left, arrive]
    score = cost + rest + want.error(last, faced)
    keep = _choose(arrive, score)
    return _Beam(arrive[keep], pos[keep], yaw[keep], cost[keep], source[keep], played[keep], length)


def _offer(
    planner: PlanningData, goals: Frames, beam: _Beam, length: int, left: int
) -> tuple[Frames, Frames, Frames, Array]:
    """What each path may do: go on, go over to a neighbour, or straight to where a goal is just as far as needed.

    Gives the path, the frame it is in, the frame from which it plays on, and what going there costs.
    """
    count = len(beam.frame)
    path, graph = np.arange(count), planner.graph
    offers = [(path, beam.frame, np.zeros(count))]
    if left + 1 > LEAST_LEAD or not len(goals):
        targets, far = graph.targets[beam.frame], graph.costs[beam.frame]
        own = np.repeat(path, targets.shape[1])
        offers.append((own, np.maximum(targets, 0).reshape(-1).astype(np.int64), _price(planner, far.reshape(-1))))
        straight = goals - length - left * STEP
        straight = straight[(straight >= 0) & (planner.ends[straight] == planner.ends[goals])]
        if len(straight):
            here = planner.features[beam.frame]
            there = planner.features[straight]
            far = (here**2).sum(-1)[:, None] + (there**2).sum(-1) - 2.0 * (here @ there.T)
            own = np.repeat(path, len(straight))
            offers.append((own, np.tile(straight, count), _price(planner, np.maximum(far, 0.0).reshape(-1))))
    source, played, price = (np.concatenate(parts) for parts in zip(*offers, strict=True))
    return source, beam.frame[source], played, price


def _price(planner: PlanningData, far: Floats) -> Array:
    return np.where(far <= planner.most_m2, far + TRANSITION_M2, np.inf).astype(float)


def _choose(arrive: Frames, score: Array) -> Frames:
    """The best paths, of which only a few are in the same frame."""
    order = np.argsort(score, kind="stable")[: 8 * BEAM]
    by_frame = np.argsort(arrive[order], kind="stable")
    sorted_frames = arrive[order][by_frame]
    begins = np.searchsorted(sorted_frames, sorted_frames)
    rank = np.empty(len(order), dtype=np.int64)
    rank[by_frame] = np.arange(len(order)) - begins
    return order[rank < _SAME][:BEAM]


def _trace(stages: list[_Beam], best: int, count: int) -> Plan:
    """Back along the path that is best in the end."""
    frames, cost = [], float(stages[-1].cost[best])
    for beam in reversed(stages[1:]):
        first = int(beam.played[best])
        frames.append(np.arange(first + 1, first + beam.length + 1))
        best = int(beam.source[best])
    found = np.concatenate(frames[::-1])
    assert len(found) == count
    return Plan(found, cost)
