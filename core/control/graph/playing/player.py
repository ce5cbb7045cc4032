# SPDX-License-Identifier: GPL-3.0-or-later
"""Running learned characters step by step, several on one stage, with fall detection and get-ups (6.2)."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ....geometry.quaternions import Array
from ....motion.falling import character_height, height_error
from ....sim.engine import SensorRows, World, character_offsets
from ...tracking.facing import facing_direction, rotate_about_z, rotate_pose_about_z, twist_angle, upright_rotation
from ...tracking.reference import CONTROL_FPS, EASE, FRAGMENT_STEPS
from ..model.control_graph import ControlGraph
from .phase_resetting import PhaseResetting
from .push_tests import FALL_HEIGHT_ERROR
from .ragdoll import RagdollController

# Fall detection (6.2): a feedback action whose largest component exceeds this, in radians, cannot save the character.
_FALL_ACTION = 2.5


@dataclass(frozen=True, eq=False)
class PlannerView:
    """What a planner knows of its character.

    place: (2,) metres and heading: radians, in the plane. others: where the other characters are.
    """

    fragment: int
    place: Array
    heading: float
    time_s: float
    others: tuple[Array, ...] = ()


class MotionPlanner(Protocol):
    """A high-level planner (6.2): decides where a character goes in its graph."""

    def next_fragment(self, view: PlannerView, choices: Sequence[int]) -> int:
        """Which fragment comes next, of the current one's successors."""

    def turn_rate(self, view: PlannerView) -> float:
        """Radians a second to turn left; only gaits with turn offsets do so."""


@dataclass(frozen=True, eq=False)
class SeenCharacter:
    """What is seen of a character at a control step. pose: gives its (nq,) and (nv,).

    rows: what the sensors saw last, of all of a stage, where it is character ``index`` with the links ``links``.
    """

    pose: Callable[[], tuple[Array, Array]]
    rows: SensorRows
    time_s: float
    index: int = 0
    links: slice = field(default_factory=lambda: slice(0, None))

    @property
    def link_pos(self) -> Array:
        """(1, L, 3) metres."""
        return self.rows.link_pos[0, -1:, self.links]

    def view(self, character: "PlayedCharacter", others: tuple[Array, ...] = ()) -> PlannerView:
        """What its planner sees."""
        root = int(self.links.start)
        ahead = facing_direction(self.rows.link_quat_wxyz[:, -1, root], character.upright)[0]
        place = self.rows.link_pos[0, -1, root, :2]
        return PlannerView(character.fragment, place, float(np.arctan2(ahead[1], ahead[0])), self.time_s, others)


@dataclass(eq=False)
class PlayedCharacter:
    """A character while it is played.

    step: the next control step of the fragment. previous_action, action: (A,) radians, of the last fragment and this
    one. down_s: seconds since it fell, None while it is up. place, heading: of the fragment's frame in the world.
    """

    graph: ControlGraph
    planner: MotionPlanner
    fragment: int
    step: int = 0
    previous_action: Array = field(default_factory=lambda: np.zeros(0))
    action: Array = field(default_factory=lambda: np.zeros(0))
    down_s: float | None = None
    falls: int = 0
    place: Array = field(default_factory=lambda: np.zeros(2))
    heading: float = 0.0

    def __post_init__(self) -> None:
        graph = self.graph
        self.features = graph.features
        self.previous_action = self.action = np.zeros(len(self.features.action_dofs))
        rises = np.array([chain.first for chain in graph.structure.chains if chain.kind == "rise"], dtype=np.int64)
        self.ragdoll = RagdollController(graph.track, rises) if len(rises) else None
        self.phase_resetting = PhaseResetting(graph)
        self.upright = upright_rotation(graph.body)
        self.body_height = character_height(self.phase_resetting.link_positions)

    def copy(self) -> "PlayedCharacter":
        """One that goes on by itself from here."""
        found = copy.copy(self)
        found.planner, found.phase_resetting = copy.copy(self.planner), self.phase_resetting.copy()
        return found

    def reference_pose(self, seen: SeenCharacter) -> Array:
        """(nq,) the reference pose at this step; its own pose while it is down."""
        if self.down_s is not None:
            return seen.pose()[0]
        posed, _ = rotate_pose_about_z(
            np.array(self.heading), self.graph.track.qpos[self.fragment, self.step], np.zeros(3)
        )
        posed[:2] += self.place
        return posed

    def servo_targets(self, seen: SeenCharacter, others: tuple[Array, ...] = ()) -> tuple[Array, float]:
        """Targets (nu,) and muscle for the next control step."""
        track = self.graph.track
        if self.down_s is not None and self.ragdoll is not None:
            qpos, qvel = seen.pose()
            control = self.ragdoll.control(qpos[None], qvel[None], np.array([self.down_s]))
            if not control.ready[0]:
                return control.targets[0], float(control.muscle[0])
            self.down_s = None
            self.enter_fragment(seen, int(control.rise[0]), others)
        elif self.down_s is not None:
            return track.targets[self.fragment, -1], 0.1
        moved = self.previous_action + EASE[self.step] * (self.action - self.previous_action)
        return track.targets[self.fragment, self.step] + self.features.target_offsets(moved), 1.0

    def advance(self, seen: SeenCharacter, others: tuple[Array, ...] = ()) -> None:
        """Count on; at a fragment's end, or at an early touchdown (phase resetting), the next fragment begins."""
        if self.down_s is not None:
            self.down_s += 1.0 / CONTROL_FPS
            return
        self.step += 1
        force = np.linalg.norm(seen.rows.contact_force[0, -1, seen.links], axis=-1)
        ended = self.phase_resetting.finished_stride(self.fragment, force)
        if ended is not None:
            self.fragment = ended
        if ended is not None or self.step == FRAGMENT_STEPS:
            choices = self.graph.structure.successors[self.fragment]
            following = self.planner.next_fragment(seen.view(self, others), choices)
            self.enter_fragment(seen, following, others)

    def enter_fragment(self, seen: SeenCharacter, fragment: int, others: tuple[Array, ...] = ()) -> None:
        """Begin a fragment: evaluate its policy, and detect a fall."""
        graph = self.graph
        self.fragment, self.step, self.previous_action = fragment, 0, self.action
        base = graph.track.qpos[[fragment], 0, 3:7]
        observed = self.features.observe(base, seen.rows, -1, seen.index, int(seen.links.start))
        action = graph.policies.unclipped_actions(np.array([fragment]), observed)[0]
        error = height_error(self.phase_resetting.link_positions[[fragment]], seen.link_pos, self.body_height)[0]
        qpos, _ = seen.pose()
        self.heading = float(twist_angle(qpos[3:7], base[0]))
        self.place = qpos[:2] - rotate_about_z(np.array(self.heading), graph.track.qpos[fragment, 0, :3])[:2]
        rising = graph.structure.chains[graph.structure.chain_of[fragment]].kind == "rise"
        fell = (
            error > FALL_HEIGHT_ERROR
            or not np.isfinite(action).all()
            or (not rising and np.abs(action).max() > _FALL_ACTION)
        )
        if fell:
            self.down_s, self.action = 0.0, np.zeros_like(self.action)
            self.falls += 1
            return
        self.action = graph.policies.clip_actions(action) + graph.turn_action(
            fragment, self.planner.turn_rate(seen.view(self, others))
        )


class Player:
    """Plays characters on the stage of a world of one copy."""

    def __init__(self, world: World, characters: Sequence[PlayedCharacter], state: Array) -> None:
        """state: (state_size,) to begin in, every character at the start of its fragment."""
        self.world, self.characters, self.state = world, tuple(characters), np.array(state)
        self.where = {name: values.astype(int) for name, values in character_offsets(world.stage).items()}
        self.substeps = round(1.0 / (CONTROL_FPS * world.dt_s))
        self.rows = world.sense(self.state[None])
        self.time_s = 0.0
        for index, character in enumerate(self.characters):
            character.enter_fragment(self._see(index), character.fragment, self._others(index))

    def step(self, forces: Array | None = None) -> tuple[Array, Array]:
        """One control step; gives targets (sum nu,) and muscle (C,). forces: (L, 3) newtons on all links."""
        targets, muscle = np.zeros(self.where["nu"][-1]), np.ones(len(self.characters))
        for index, character in enumerate(self.characters):
            own = slice(self.where["nu"][index], self.where["nu"][index + 1])
            targets[own], muscle[index] = character.servo_targets(self._see(index), self._others(index))
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
        for index, character in enumerate(self.characters):
            character.advance(self._see(index), self._others(index))
        return targets, muscle

    def pose(self, index: int) -> tuple[Array, Array]:
        """The pose (nq,) and rates (nv,) of a character."""
        qpos, qvel = self.world.pose_of(self.state[None])
        q, v = (slice(self.where[name][index], self.where[name][index + 1]) for name in ("nq", "nv"))
        return qpos[0, q], qvel[0, v]

    def reference_pose(self, index: int) -> Array:
        """(nq,) the reference pose of a character at this step; its own pose while it is down."""
        return self.characters[index].reference_pose(self._see(index))

    def _see(self, index: int) -> SeenCharacter:
        links = slice(self.where["links"][index], self.where["links"][index + 1])
        return SeenCharacter(lambda: self.pose(index), self.rows, self.time_s, index, links)

    def _others(self, index: int) -> tuple[Array, ...]:
        roots = [self.rows.link_pos[0, -1, int(first), :2] for first in self.where["links"][:-1]]
        return tuple(place for number, place in enumerate(roots) if number != index)
