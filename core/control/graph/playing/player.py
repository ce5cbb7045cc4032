# SPDX-License-Identifier: GPL-3.0-or-later
"""Running learned characters: step by step, several on one stage, falling and getting up by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ....geometry.quaternions import Array
from ....motion.falling import character_height, height_error
from ....sim.engine import World, character_offsets
from ...tracking.facing import facing_direction, rotate_about_z, rotate_pose_about_z, twist_angle, upright_rotation
from ...tracking.reference import CONTROL_FPS, EASE, FRAGMENT_STEPS
from ..model.control_graph import ControlGraph
from .phase_resetting import PhaseResetting
from .push_tests import FALL_HEIGHT_ERROR
from .ragdoll import RagdollController

# Feedback of this size, in radians of its largest part, says that there is nothing left to save.
_GIVES_UP = 2.5


@dataclass(frozen=True, eq=False)
class PlannerView:
    """What a plan may know of its character: where it is and which way it faces, level; and the time."""

    fragment: int
    place: Array
    heading: float
    time_s: float
    others: tuple[Array, ...] = ()


class MotionPlanner(Protocol):
    """Who decides where a character goes in its graph."""

    def after(self, view: PlannerView, choices: Sequence[int]) -> int:
        """Which fragment comes next, of those that may."""

    def turn(self, view: PlannerView) -> float:
        """How sharply to turn left, in radians a second; a gait that cannot, does not."""


@dataclass(eq=False)
class PlayedCharacter:
    """A character while it is played.

    step: of the fragment, that comes next. before, action: (A,) of the last fragment and this one.
    down_s: seconds since it fell, None while it is up. place, heading: of the fragment's frame in the world.
    """

    graph: ControlGraph
    plan: MotionPlanner
    fragment: int
    step: int = 0
    before: Array = field(default_factory=lambda: np.zeros(0))
    action: Array = field(default_factory=lambda: np.zeros(0))
    down_s: float | None = None
    falls: int = 0
    place: Array = field(default_factory=lambda: np.zeros(2))
    heading: float = 0.0

    def __post_init__(self) -> None:
        graph = self.graph
        self.features = graph.features
        self.before = self.action = np.zeros(len(self.features.acts))
        rises = np.array([chain.first for chain in graph.layout.chains if chain.kind == "rise"], dtype=np.int64)
        self.ragdoll = RagdollController(graph.track, rises) if len(rises) else None
        self.phases = PhaseResetting(graph)
        self.upright = upright_rotation(graph.body)
        self.tallest = character_height(self.phases.places)


class Player:
    """Plays actors on the stage of a world of one copy."""

    def __init__(self, world: World, actors: Sequence[PlayedCharacter], state: Array) -> None:
        """state: (state_size,) to begin in, everybody at the start of their fragments."""
        self.world, self.actors, self.state = world, tuple(actors), np.array(state)
        self.where = {name: values.astype(int) for name, values in character_offsets(world.stage).items()}
        self.substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        self.rows = world.sense(self.state[None])
        self.time_s = 0.0
        for who, actor in enumerate(self.actors):
            self._enter(who, actor, actor.fragment)

    def step(self, forces: Array | None = None) -> tuple[Array, Array]:
        """One control step; gives targets (sum nu,) and muscle (C,). forces: (L, 3) newtons on all links."""
        targets, muscle = np.zeros(self.where["nu"][-1]), np.ones(len(self.actors))
        for who, actor in enumerate(self.actors):
            own = slice(self.where["nu"][who], self.where["nu"][who + 1])
            targets[own], muscle[who] = self._asked(who, actor)
        strength = None if (muscle == 1.0).all() else muscle[None, None]
        states, self.rows = self.world.rollout(
            self.state[None],
            targets[None, None],
            substeps=self.substeps,
            forces=None if forces is None else forces[None, None],
            muscle=strength,
        )
        self.state = states[0, -1]
        self.time_s += 1.0 / CONTROL_FPS
        for who, actor in enumerate(self.actors):
            self._went_on(who, actor)
        return targets, muscle

    def pose(self, who: int) -> tuple[Array, Array]:
        """The pose (nq,) and rates (nv,) of a character."""
        qpos, qvel = self.world.pose_of(self.state[None])
        q, v = (slice(self.where[name][who], self.where[name][who + 1]) for name in ("nq", "nv"))
        return qpos[0, q], qvel[0, v]

    def wanted(self, who: int) -> Array:
        """(nq,) the pose that a character is to have now; its own while it is down."""
        actor = self.actors[who]
        if actor.down_s is not None:
            return self.pose(who)[0]
        posed, _ = rotate_pose_about_z(
            np.array(actor.heading), actor.graph.track.qpos[actor.fragment, actor.step], np.zeros(3)
        )
        posed[:2] += actor.place
        return posed

    def _asked(self, who: int, actor: PlayedCharacter) -> tuple[Array, float]:
        """Targets (nu,) and muscle for the next control step."""
        if actor.down_s is not None and actor.ragdoll is not None:
            qpos, qvel = self.pose(who)
            lying = actor.ragdoll.lying(qpos[None], qvel[None], np.array([actor.down_s]))
            if not lying.ready[0]:
                return lying.targets[0], float(lying.muscle[0])
            actor.down_s = None
            self._enter(who, actor, int(lying.rise[0]))
        elif actor.down_s is not None:
            return actor.graph.track.targets[actor.fragment, -1], 0.1
        moved = actor.before + EASE[actor.step] * (actor.action - actor.before)
        return actor.graph.track.targets[actor.fragment, actor.step] + actor.features.offsets(moved), 1.0

    def _went_on(self, who: int, actor: PlayedCharacter) -> None:
        """Count on; at a fragment's end, or where a foot comes down early, the next begins."""
        if actor.down_s is not None:
            actor.down_s += 1.0 / CONTROL_FPS
            return
        actor.step += 1
        graph = actor.graph
        links = slice(self.where["links"][who], self.where["links"][who + 1])
        force = np.linalg.norm(self.rows.contact_force[0, -1, links], axis=-1)
        if (ended := actor.phases.ended(actor.fragment, force)) is not None:
            actor.fragment = ended
            self._enter(who, actor, actor.plan.after(self._view(who, actor), graph.layout.follows[ended]))
        elif actor.step == FRAGMENT_STEPS:
            self._enter(who, actor, actor.plan.after(self._view(who, actor), graph.layout.follows[actor.fragment]))

    def _enter(self, who: int, actor: PlayedCharacter, fragment: int) -> None:
        """Begin a fragment: look, and decide on the action, or find that it is no use."""
        graph = actor.graph
        actor.fragment, actor.step, actor.before = fragment, 0, actor.action
        first = int(self.where["links"][who])
        base = graph.track.qpos[[fragment], 0, 3:7]
        seen = actor.features.seen(base, self.rows, -1, who, first)
        asked = graph.policies.asked(np.array([fragment]), seen)[0]
        links = slice(first, int(self.where["links"][who + 1]))
        off = height_error(actor.phases.places[[fragment]], self.rows.link_pos[0, -1:, links], actor.tallest)[0]
        qpos, _ = self.pose(who)
        actor.heading = float(twist_angle(qpos[3:7], base[0]))
        actor.place = qpos[:2] - rotate_about_z(np.array(actor.heading), graph.track.qpos[fragment, 0, :3])[:2]
        rising = graph.layout.chains[graph.layout.chain_of[fragment]].kind == "rise"
        lost = (
            off > FALL_HEIGHT_ERROR or not np.isfinite(asked).all() or (not rising and np.abs(asked).max() > _GIVES_UP)
        )
        if lost:
            actor.down_s, actor.action = 0.0, np.zeros_like(actor.action)
            actor.falls += 1
            return
        action = graph.policies.held(asked)
        actor.action = action + graph.turning(fragment, actor.plan.turn(self._view(who, actor)))

    def _view(self, who: int, actor: PlayedCharacter) -> PlannerView:
        roots = [self.rows.link_pos[0, -1, int(first), :2] for first in self.where["links"][:-1]]
        ahead = facing_direction(self.rows.link_quat_wxyz[:, -1, int(self.where["links"][who])], actor.upright)[0]
        others = tuple(place for index, place in enumerate(roots) if index != who)
        return PlannerView(actor.fragment, roots[who], float(np.arctan2(ahead[1], ahead[0])), self.time_s, others)
