# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a character goes in its graph: at random, through a list of skills, along a path, or towards somebody."""

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

_WALK = 400  # fragments of a random walk that are decided at once
_LEFT_OUT = 4  # fragments of a route that may be left out by the way
_LOOK_AHEAD_M, _LOOK_AHEAD_S = 0.8, 2.0  # how far ahead on its path a character looks, at least, and at its speed
_ON_PATH_M = 0.3  # who is this near has come to its path
_END_M = 0.3  # of its end tell which way it goes on
_AT_ONCE_M, _MARK_M = 3.0, 0.05  # how far on it may find itself at once, and how finely it tells where that is
_BEND = 1.3  # of the arc that leads to its path: a gait turns less than it is asked to, as long as that is little
_EAGER = 1.5  # radians a second for each radian that it is off


class RoutePlanner:
    """Follows a route until it is done, then asks for the next; falls only interrupt it."""

    def __init__(self, graph: ControlGraph) -> None:
        self.graph = graph
        self._ahead: list[int] = []

    def after(self, view: PlannerView, choices: Sequence[int]) -> int:
        """The next fragment of the route, or a new route from here."""
        # A stride that began early has left some of the route out.
        ahead = next((index for index, one in enumerate(self._ahead[:_LEFT_OUT]) if one in choices), None)
        self._ahead = [int(one) for one in self.onward(view)] if ahead is None else self._ahead[ahead:]
        if self._ahead and self._ahead[0] in choices:
            return self._ahead.pop(0)
        return choices[0]

    def onward(self, view: PlannerView) -> Sequence[int]:
        """Fragments that come after ``view.fragment``."""
        raise NotImplementedError

    def turn(self, view: PlannerView) -> float:
        """Straight ahead."""
        return 0.0


class RandomWalkPlanner(RoutePlanner):
    """Wanders through all skills, seeing each about equally."""

    def __init__(self, graph: ControlGraph, rng: np.random.Generator) -> None:
        super().__init__(graph)
        self._rng = rng

    def onward(self, view: PlannerView) -> Sequence[int]:
        """A long random walk from here."""
        layout = self.graph.layout
        walk = random_walk(layout.follows, layout.chain_of, layout.skill_of_chain, view.fragment, _WALK, self._rng)
        return [int(fragment) for fragment in walk[1:]]


@dataclass(frozen=True)
class SequenceItem:
    """A skill of a list, and for how long: seconds, or None for once through."""

    skill: str
    seconds: float | None = None


class SequencePlanner(RoutePlanner):
    """Goes through a list of skills, each for its time; then stays with the last one, if it can be stayed with."""

    def __init__(self, graph: ControlGraph, items: Sequence[SequenceItem]) -> None:
        super().__init__(graph)
        if not items:
            raise GraphError("The list of skills is empty", "Name at least one skill, such as 'walk 3, run 2'")
        self.items = tuple(items)
        for item in items:
            if graph.layout.chain(item.skill).kind == "rise":
                raise GraphError(f"'{item.skill}' is a get-up, which only follows a fall", "Leave it out of the list")
        self._index, self._entered_s = 0, None  # type: tuple[int, float | None]

    def onward(self, view: PlannerView) -> Sequence[int]:
        """To the skill of the list, through it, or on to the next."""
        layout = self.graph.layout
        if self._index == len(self.items):
            return layout.follows[view.fragment][:1]
        item = self.items[self._index]
        chain = layout.chain(item.skill)
        if view.fragment not in chain.fragments:
            way = shortest_path(layout.follows, view.fragment, chain.fragments)
            if way is None:
                raise GraphError(
                    f"There is no way to '{item.skill}' from where the character is",
                    "Add transitions that lead there, and learn the graph again",
                )
            return way[1:]
        if self._entered_s is None:
            self._entered_s = view.time_s - FRAGMENT_S
        if _is_item_done(item, chain, view.fragment, view.time_s - self._entered_s):
            self._index, self._entered_s = self._index + 1, None
            return self.onward(view)
        return layout.follows[view.fragment][:1]


def _is_item_done(item: SequenceItem, chain: Chain, fragment: int, since_s: float) -> bool:
    """Whether a skill was done for long enough, at the end of one of its fragments."""
    if item.seconds is None and chain.kind == "once":  # it may have been entered somewhere in its middle
        return fragment == chain.fragments[-1]
    return since_s >= (item.seconds or chain.count * FRAGMENT_S) - 1e-6


@dataclass(eq=False)
class SteeringPlanner:
    """Another plan's skills, turned towards a goal as it comes (a greedy planner)."""

    plan: RoutePlanner

    def after(self, view: PlannerView, choices: Sequence[int]) -> int:
        """As the plan says."""
        return self.plan.after(view, choices)

    def turn(self, view: PlannerView) -> float:
        """Towards the goal, the more the further it is off."""
        goal = self.goal(view)
        return 0.0 if goal is None else float(np.clip(_EAGER * _bearing(view, goal), -MAX_TURN_RATE, MAX_TURN_RATE))

    def goal(self, view: PlannerView) -> Array | None:
        """(2,) where to, or None to go straight on."""
        raise NotImplementedError


def _bearing(view: PlannerView, goal: Array) -> float:
    """Radians from where a character faces to a goal (2,), to the left."""
    away = goal - view.place
    off = float(np.arctan2(away[1], away[0])) - view.heading
    return (off + np.pi) % (2.0 * np.pi) - np.pi


@dataclass(eq=False)
class PathPlanner(SteeringPlanner):
    """Along points (P, 2) in the plane; straight on after the last, or where the path is closed, round and round.

    It looks as far ahead as it goes in a while and takes the arc that leads there from where it faces (pure pursuit):
    who only turned towards a near point would weave, a run by metres, for gaits turn slowly.
    """

    points: Array = field(default_factory=lambda: np.zeros((0, 2)))
    closed: bool = False
    strayed_m: float | None = None
    """How far from the path the character was at most, once it had come to it; None before."""
    _reached: float = 0.0

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
        self._places = self._at(self._marks)

    def turn(self, view: PlannerView) -> float:
        """As sharply as the arc to the goal bends at the speed of what is being done."""
        goal = self.goal(view)
        if goal is None:
            return 0.0
        off = _bearing(view, goal)
        bend = 2.0 * (np.sin(off) if abs(off) < 0.5 * np.pi else np.sign(off))
        bend /= max(float(np.linalg.norm(goal - view.place)), 0.5 * self._look(view))
        return float(np.clip(_BEND * self._speed(view) * bend, -MAX_TURN_RATE, MAX_TURN_RATE))

    def goal(self, view: PlannerView) -> Array | None:
        """The point of the path a little ahead of where the character is."""
        near = np.linalg.norm(self._places - view.place, axis=-1)
        # Never back, and not far ahead at once: a path may cross itself.
        on, far = self._marks - self._reached, _AT_ONCE_M
        if self.closed:
            on, far = on % self._length, min(far, 0.5 * self._length)
        near[(on < 0.0) | (on > far)] = np.inf
        self._reached = float(self._marks[int(np.argmin(near))])
        if self.closed or self._reached < self._length - _MARK_M:
            self._stray(float(near.min()))
        look = self._look(view)
        ahead = self._reached + look
        if self.closed:
            return self._at(np.array(ahead % self._length))
        if ahead < self._length:
            return self._at(np.array(ahead))
        # As a path is drawn of many short lines, there must be somewhere to go however far its end is behind.
        onward = self._at(np.array(self._length)) - self._at(np.array(self._length - _END_M))
        onward /= max(float(np.linalg.norm(onward)), 1e-9)
        beyond = max(float((view.place - self._corners[-1]) @ onward), self._reached - self._length)
        return np.asarray(self._corners[-1] + (beyond + look) * onward)

    def _stray(self, off: float) -> None:
        if self.strayed_m is not None or off < _ON_PATH_M:
            self.strayed_m = max(self.strayed_m or 0.0, off)

    def _speed(self, view: PlannerView) -> float:
        """Metres a second of the skill or transition that the character is in."""
        layout, qpos = self.plan.graph.layout, self.plan.graph.track.qpos
        own = layout.chains[layout.chain_of[view.fragment]]
        moved = qpos[own.first : own.first + own.count, -1, :2] - qpos[own.first : own.first + own.count, 0, :2]
        return float(np.linalg.norm(moved, axis=-1).mean()) / FRAGMENT_S

    def _look(self, view: PlannerView) -> float:
        """Metres ahead on the path; never over to the other side of a small round."""
        far = max(_LOOK_AHEAD_S * self._speed(view), _LOOK_AHEAD_M)
        return min(far, max(0.25 * self._length, _LOOK_AHEAD_M)) if self.closed else far

    def _at(self, along: Array) -> Array:
        """(..., 2) where the path is after metres (...)."""
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
    """Skills with seconds from 'walk 3, run 2.5, kick'. names: of skills, for those that end with a number."""
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
