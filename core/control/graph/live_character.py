# SPDX-License-Identifier: GPL-3.0-or-later
"""A learned graph that is live: it goes through its skills as it is told, is steered, falls and gets up."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...body.poses import pose_of_clip
from ...errors import GraphError
from ...geometry.quaternions import Array
from ...motion import Clip
from ..live_character import (
    LIVE_FPS,
    LiveCast,
    SensedBody,
    Steering,
    WantedPose,
    place_learned_cast,
    skills_of,
    wanted_of_pose,
)
from ..method import Run
from ..tracking.facing import rotate_pose_about_z, upright_rotation
from .learned_file import attached_graph
from .model.control_graph import MAX_TURN_RATE, ControlGraph
from .playing.baking import Place, place_of_pose
from .playing.graph_walks import shortest_path
from .playing.planners import RoutePlanner
from .playing.player import PlannerView, PlayedCharacter, SeenCharacter

_BEARING_GAIN = 1.5  # radians a second for each radian that it is off


def open_graph(clip: Clip, settings: Any, run: Run, opened: ExitStack) -> LiveCast:
    """Everybody with the job's learned graph, each where its clip begins."""
    graph = attached_graph(run)
    stage, clips = place_learned_cast(graph.body, clip, run)
    upright = upright_rotation(graph.body)
    places = [place_of_pose(pose_of_clip(graph.body, one.frames(0, 1))[0][0], upright) for one in clips]
    return LiveCast(stage, tuple(map(GraphCharacter, [graph] * len(clips), places, clips)), clips)


class LivePlanner(RoutePlanner):
    """Goes to the skill that is wished for and stays there; gaits turn to where they are steered."""

    def __init__(self, graph: ControlGraph, skill: str, heading: float | None = None) -> None:
        """heading: radians from +X to go along; None for straight ahead."""
        super().__init__(graph)
        self.skill, self.heading = skill, heading

    def next_fragment(self, view: PlannerView, choices: Sequence[int]) -> int:
        """The first one of the shortest way to the skill; within it, the next one."""
        chains, chain = self.graph.structure, self.graph.structure.chain(self.skill)
        if view.fragment not in chain.fragments:
            path = shortest_path(chains.successors, view.fragment, chain.fragments)
            if path is not None and len(path) > 1 and path[1] in choices:
                return int(path[1])
        return int(next((one for one in choices if one in chain.fragments), choices[0]))

    def turn_rate(self, view: PlannerView) -> float:
        """Towards where it is steered."""
        if self.heading is None:
            return 0.0
        off = (self.heading - view.heading + np.pi) % (2.0 * np.pi) - np.pi
        return float(np.clip(_BEARING_GAIN * off, -MAX_TURN_RATE, MAX_TURN_RATE))


@dataclass(frozen=True, eq=False)
class GraphMoment:
    """Where somebody is in a graph. played: never advanced, only copies of it are. begun: whether its first fragment
    was entered. muscle: the share of its strength that it uses. wanted: (nq,) where the graph has it.
    """

    played: PlayedCharacter
    wanted: Array
    time_s: float = 0.0
    begun: bool = False
    muscle: float = 1.0


class GraphCharacter:
    """A ``LiveCharacter`` that plays a graph. It begins at a place, with the graph's first skill."""

    is_over, is_lost, steered, helped = False, False, True, 0.0

    def __init__(self, graph: ControlGraph, place: Place, clip: Clip) -> None:
        self.body, self._graph, self._place, self._clip = graph.body, graph, place, clip
        self.styles = skills_of([chain.name for chain in graph.skills if chain.kind != "rise"])
        if not self.styles:
            raise GraphError("The graph has no skill but get-ups", "Learn one with a skill that goes on")
        self._first = graph.structure.chain(self.styles[0]).first
        self.begin_anew()

    @property
    def own_strength(self) -> float:
        """Less while it lies."""
        return self.moment.muscle

    def begin_anew(self) -> None:
        """Be at the beginning."""
        played = PlayedCharacter(self._graph, LivePlanner(self._graph, self.styles[0]), self._first)
        self.moment = GraphMoment(played, self.first_pose()[0])

    def first_pose(self) -> tuple[Array, Array]:
        """(nq,) and (nv,) of the first fragment's beginning, where the character stands."""
        track, heading = self._graph.track, np.array(self._place.heading)
        qpos, qvel = rotate_pose_about_z(heading, track.qpos[self._first, 0], track.rates[self._first, 0])
        qpos[:2] += self._place.at
        return qpos, qvel

    def steer(self, steering: Steering) -> None:
        """By another skill, or along another direction."""
        played, (x, y) = self.moment.played.copy(), steering.velocity
        assert isinstance(played.planner, LivePlanner)
        heading = float(np.arctan2(y, x)) if steering.speed_m_s > 0.0 else None
        played.planner = LivePlanner(self._graph, steering.style or played.planner.skill, heading)
        self.moment = replace(self.moment, played=played)

    def come_back(self, sensed: SensedBody) -> None:
        """It gets up by itself."""

    def choose_targets(self, sensed: SensedBody) -> Array:
        """(nu,) servo targets for the next control step."""
        played, seen = self.moment.played.copy(), _see(sensed, self.moment.time_s)
        if not self.moment.begun:
            played.enter_fragment(seen, played.fragment)
        targets, muscle = played.servo_targets(seen)
        self.moment = replace(self.moment, played=played, begun=True, muscle=muscle)
        return targets

    def pass_step(self, sensed: SensedBody) -> None:
        """A control step has led to this."""
        played, time_s = self.moment.played.copy(), self.moment.time_s + 1.0 / LIVE_FPS
        seen = _see(sensed, time_s)
        played.advance(seen)
        self.moment = replace(self.moment, played=played, time_s=time_s, wanted=played.reference_pose(seen))

    def wanted(self) -> WantedPose:
        """The fragment's pose; its own while it lies."""
        return wanted_of_pose(self.body, self.moment.wanted, self._clip)


def _see(sensed: SensedBody, time_s: float) -> SeenCharacter:
    return SeenCharacter(lambda: (sensed.qpos, sensed.qvel), sensed.rows, time_s)
