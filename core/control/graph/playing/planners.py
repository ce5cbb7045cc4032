# SPDX-License-Identifier: GPL-3.0-or-later
"""High-level planners (control graphs, 6.2): random walk, sequence of skills, path following, approaching another."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from ....errors import GraphError
from ....geometry.quaternions import Array
from ..model.chains import FRAGMENT_S
from ..model.control_graph import MAX_TURN_RATE, ControlGraph
from ..model.structure import Chain
from .graph_walks import random_walk, shortest_path
from .player import PlannerView

_WALK = 400  # fragments of a random walk that are planned at once
_SKIPPED = 4  # fragments of a route that phase resetting may skip
_LOOK_AHEAD_M, _LOOK_AHEAD_S = 0.8, 2.0  # pure pursuit's look-ahead distance, at least, and in time
_ON_PATH_M = 0.3  # nearer than this the character has reached its path
_END_M = 0.3  # of its end, whose direction it continues in
_AT_ONCE_M, _MARK_M = 3.0, 0.05  # search range for the nearest point of the path, and its spacing
_CURVATURE_GAIN = 1.3  # a gait turns less than it is asked to, as long as that is little
_BEARING_GAIN = 1.5  # radians a second for each radian of bearing


class RoutePlanner:
    """Follows a route until it is done, then plans the next; falls only interrupt it."""

    def __init__(self, graph: ControlGraph) -> None:
        self.graph = graph
        self._ahead: list[int] = []

    def next_fragment(self, view: PlannerView, choices: Sequence[int]) -> int:
        """The next fragment of the route, or a new route from here."""
        # A stride that phase resetting ended early has skipped some of the route.
        ahead = next((index for index, one in enumerate(self._ahead[:_SKIPPED]) if one in choices), None)
        self._ahead = [int(one) for one in self.plan_route(view)] if ahead is None else self._ahead[ahead:]
        if self._ahead and self._ahead[0] in choices:
            return self._ahead.pop(0)
        return choices[0]

    def plan_route(self, view: PlannerView) -> Sequence[int]:
        """Fragments that come after ``view.fragment``."""
        raise NotImplementedError

    def turn_rate(self, view: PlannerView) -> float:
        """0: straight ahead."""
        return 0.0


class RandomWalkPlanner(RoutePlanner):
    """A random walk on the graph that visits all skills about equally."""

    def __init__(self, graph: ControlGraph, rng: np.random.Generator) -> None:
        super().__init__(graph)
        self._rng = rng

    def plan_route(self, view: PlannerView) -> Sequence[int]:
        """A long random walk from here."""
        structure = self.graph.structure
        walk = random_walk(
            structure.successors, structure.chain_of, structure.skill_of_chain, view.fragment, _WALK, self._rng
        )
        return [int(fragment) for fragment in walk[1:]]


@dataclass(frozen=True)
class SequenceItem:
    """A skill of a sequence, and for how long: seconds, or None to play it once."""

    skill: str
    seconds: float | None = None


class SequencePlanner(RoutePlanner):
    """Plays a sequence of skills, each for its time; then stays with the last one if that is a cycle."""

    def __init__(self, graph: ControlGraph, items: Sequence[SequenceItem]) -> None:
        super().__init__(graph)
        if not items:
            raise GraphError("The list of skills is empty", "Name at least one skill, such as 'walk 3, run 2'")
        self.items = tuple(items)
        for item in items:
            if graph.structure.chain(item.skill).kind == "rise":
                raise GraphError(f"'{item.skill}' is a get-up, which only follows a fall", "Leave it out of the list")
        self._index, self._entered_s = 0, None  # type: tuple[int, float | None]

    def plan_route(self, view: PlannerView) -> Sequence[int]:
        """The shortest path to the item's skill, through it, or on to the next item."""
        structure = self.graph.structure
        if self._index == len(self.items):
            return structure.successors[view.fragment][:1]
        item = self.items[self._index]
        chain = structure.chain(item.skill)
        if view.fragment not in chain.fragments:
            path = shortest_path(structure.successors, view.fragment, chain.fragments)
            if path is None:
                raise GraphError(
                    f"There is no way to '{item.skill}' from where the character is",
                    "Add transitions that lead there, and learn the graph again",
                )
            return path[1:]
        if self._entered_s is None:
            self._entered_s = view.time_s - FRAGMENT_S
        if _is_item_done(item, chain, view.fragment, view.time_s - self._entered_s):
            self._index, self._entered_s = self._index + 1, None
            return self.plan_route(view)
        return structure.successors[view.fragment][:1]


def _is_item_done(item: SequenceItem, chain: Chain, fragment: int, since_s: float) -> bool:
    """Whether a skill was played for long enough, at the end of one of its fragments."""
    if item.seconds is None and chain.kind == "once":  # it may have been entered somewhere in its middle
        return fragment == chain.fragments[-1]
    return since_s >= (item.seconds or chain.count * FRAGMENT_S) - 1e-6


@dataclass(eq=False)
class SteeringPlanner:
    """Another planner's skills, steered greedily towards a goal (6.2)."""

    planner: RoutePlanner

    def next_fragment(self, view: PlannerView, choices: Sequence[int]) -> int:
        """As the other planner says."""
        return self.planner.next_fragment(view, choices)

    def turn_rate(self, view: PlannerView) -> float:
        """Proportional to the goal's bearing."""
        goal = self.goal(view)
        return (
            0.0 if goal is None else float(np.clip(_BEARING_GAIN * _bearing(view, goal), -MAX_TURN_RATE, MAX_TURN_RATE))
        )

    def goal(self, view: PlannerView) -> Array | None:
        """(2,) metres, or None to go straight ahead."""
        raise NotImplementedError


def _bearing(view: PlannerView, goal: Array) -> float:
    """Radians from the facing direction to a goal (2,), positive to the left."""
    away = goal - view.place
    off = float(np.arctan2(away[1], away[0])) - view.heading
    return (off + np.pi) % (2.0 * np.pi) - np.pi


@dataclass(eq=False)
class PathPlanner(SteeringPlanner):
    """Along points (P, 2) in the plane; straight on after the last, or where the path is closed, round and round.

    Pure pursuit: it takes the arc from its facing direction to a look-ahead point. Turning towards a near point only
    would weave, a run by metres, for gaits turn slowly.
    """

    points: Array = field(default_factory=lambda: np.zeros((0, 2)))
    closed: bool = False
    largest_deviation_m: float | None = None
    """Metres from the path at most, once the character had reached it; None before."""
    _reached_m: float = 0.0

    def __post_init__(self) -> None:
        points = np.asarray(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] < 2 or len(points) < 2 or not np.isfinite(points).all():
            raise GraphError("The path has no two points", "Choose a curve with at least two points")
        corners = points[:, :2]
        if self.closed and (corners[0] != corners[-1]).any():
            corners = np.concatenate([corners, corners[:1]])
        self._along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=-1))])
        self._corners, self._length = corners, float(self._along[-1])
        if self._length < _LOOK_AHEAD_M:
            raise GraphError(f"The path is {self._length:.2f} m long", f"Make it longer than {_LOOK_AHEAD_M} m")
        self._marks = np.linspace(0.0, self._length, max(int(self._length / _MARK_M), 2))
        self._places = self._point_at(self._marks)

    def turn_rate(self, view: PlannerView) -> float:
        """The curvature of the pursuit arc times the speed of the chain that is played."""
        goal = self.goal(view)
        if goal is None:
            return 0.0
        bearing = _bearing(view, goal)
        curvature = 2.0 * (np.sin(bearing) if abs(bearing) < 0.5 * np.pi else np.sign(bearing))
        curvature /= max(float(np.linalg.norm(goal - view.place)), 0.5 * self._look_ahead(view))
        return float(np.clip(_CURVATURE_GAIN * self._speed(view) * curvature, -MAX_TURN_RATE, MAX_TURN_RATE))

    def goal(self, view: PlannerView) -> Array | None:
        """The look-ahead point of the path."""
        near = np.linalg.norm(self._places - view.place, axis=-1)
        # Never back, and not far ahead at once: a path may cross itself.
        on, far = self._marks - self._reached_m, _AT_ONCE_M
        if self.closed:
            on, far = on % self._length, min(far, 0.5 * self._length)
        near[(on < 0.0) | (on > far)] = np.inf
        self._reached_m = float(self._marks[int(np.argmin(near))])
        if self.closed or self._reached_m < self._length - _MARK_M:
            self._record_deviation(float(near.min()))
        look = self._look_ahead(view)
        ahead = self._reached_m + look
        if self.closed:
            return self._point_at(np.array(ahead % self._length))
        if ahead < self._length:
            return self._point_at(np.array(ahead))
        # As a path is drawn of many short lines, there must be somewhere to go however far its end is behind.
        plan_route = self._point_at(np.array(self._length)) - self._point_at(np.array(self._length - _END_M))
        plan_route /= max(float(np.linalg.norm(plan_route)), 1e-9)
        beyond = max(float((view.place - self._corners[-1]) @ plan_route), self._reached_m - self._length)
        return np.asarray(self._corners[-1] + (beyond + look) * plan_route)

    def _record_deviation(self, off: float) -> None:
        if self.largest_deviation_m is not None or off < _ON_PATH_M:
            self.largest_deviation_m = max(self.largest_deviation_m or 0.0, off)

    def _speed(self, view: PlannerView) -> float:
        """Metres a second of the skill or transition that is played."""
        structure, qpos = self.planner.graph.structure, self.planner.graph.track.qpos
        own = structure.chains[structure.chain_of[view.fragment]]
        moved = qpos[own.first : own.first + own.count, -1, :2] - qpos[own.first : own.first + own.count, 0, :2]
        return float(np.linalg.norm(moved, axis=-1).mean()) / FRAGMENT_S

    def _look_ahead(self, view: PlannerView) -> float:
        """The look-ahead distance in metres; never across to the other side of a small closed path."""
        far = max(_LOOK_AHEAD_S * self._speed(view), _LOOK_AHEAD_M)
        return min(far, max(0.25 * self._length, _LOOK_AHEAD_M)) if self.closed else far

    def _point_at(self, along: Array) -> Array:
        """(..., 2) points of the path at arc lengths (...) in metres."""
        return np.stack([np.interp(along, self._along, self._corners[:, axis]) for axis in (0, 1)], axis=-1)


@dataclass(eq=False)
class ApproachPlanner(SteeringPlanner):
    """Always towards the nearest other character."""

    def goal(self, view: PlannerView) -> Array | None:
        """Where the nearest other is."""
        if not view.others:
            return None
        return min(view.others, key=lambda place: float(np.linalg.norm(place - view.place)))


def parse_sequence(text: str, names: Collection[str] = ()) -> list[SequenceItem]:
    """The sequence in a text such as 'walk 3, run 2.5, kick'. names: of skills, some of which may end with a number."""
    items = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part in names:
            items.append(SequenceItem(part))
            continue
        name, _, last = part.rpartition(" ")
        try:
            seconds = float(last)
        except ValueError:
            items.append(SequenceItem(part))
            continue
        if not name or not seconds > 0.0:
            raise GraphError(f"'{part}' says not which skill for how long", "Write a skill and seconds: walk 3, run 2")
        items.append(SequenceItem(name.strip(), seconds))
    if not items:
        raise GraphError("The list of skills is empty", "Name at least one skill, such as 'walk 3, run 2'")
    return items
