# SPDX-License-Identifier: GPL-3.0-or-later
"""Running learned characters step by step, several on one stage, with fall detection and get-ups (6.2)."""

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
            self._enter_fragment(index, character, character.fragment)

    def step(self, forces: Array | None = None) -> tuple[Array, Array]:
        """One control step; gives targets (sum nu,) and muscle (C,). forces: (L, 3) newtons on all links."""
        targets, muscle = np.zeros(self.where["nu"][-1]), np.ones(len(self.characters))
        for index, character in enumerate(self.characters):
            own = slice(self.where["nu"][index], self.where["nu"][index + 1])
            targets[own], muscle[index] = self._servo_targets(index, character)
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
            self._advance(index, character)
        return targets, muscle

    def pose(self, index: int) -> tuple[Array, Array]:
        """The pose (nq,) and rates (nv,) of a character."""
        qpos, qvel = self.world.pose_of(self.state[None])
        q, v = (slice(self.where[name][index], self.where[name][index + 1]) for name in ("nq", "nv"))
        return qpos[0, q], qvel[0, v]

    def reference_pose(self, index: int) -> Array:
        """(nq,) the reference pose of a character at this step; its own pose while it is down."""
        character = self.characters[index]
        if character.down_s is not None:
            return self.pose(index)[0]
        posed, _ = rotate_pose_about_z(
            np.array(character.heading), character.graph.track.qpos[character.fragment, character.step], np.zeros(3)
        )
        posed[:2] += character.place
        return posed

    def _servo_targets(self, index: int, character: PlayedCharacter) -> tuple[Array, float]:
        """Targets (nu,) and muscle for the next control step."""
        if character.down_s is not None and character.ragdoll is not None:
            qpos, qvel = self.pose(index)
            control = character.ragdoll.control(qpos[None], qvel[None], np.array([character.down_s]))
            if not control.ready[0]:
                return control.targets[0], float(control.muscle[0])
            character.down_s = None
            self._enter_fragment(index, character, int(control.rise[0]))
        elif character.down_s is not None:
            return character.graph.track.targets[character.fragment, -1], 0.1
        moved = character.previous_action + EASE[character.step] * (character.action - character.previous_action)
        offsets = character.features.target_offsets(moved)
        return character.graph.track.targets[character.fragment, character.step] + offsets, 1.0

    def _advance(self, index: int, character: PlayedCharacter) -> None:
        """Count on; at a fragment's end, or at an early touchdown (phase resetting), the next fragment begins."""
        if character.down_s is not None:
            character.down_s += 1.0 / CONTROL_FPS
            return
        character.step += 1
        graph = character.graph
        links = slice(self.where["links"][index], self.where["links"][index + 1])
        force = np.linalg.norm(self.rows.contact_force[0, -1, links], axis=-1)
        ended = character.phase_resetting.finished_stride(character.fragment, force)
        if ended is not None:
            character.fragment = ended
        if ended is not None or character.step == FRAGMENT_STEPS:
            choices = graph.structure.successors[character.fragment]
            following = character.planner.next_fragment(self._view(index, character), choices)
            self._enter_fragment(index, character, following)

    def _enter_fragment(self, index: int, character: PlayedCharacter, fragment: int) -> None:
        """Begin a fragment: evaluate its policy, and detect a fall."""
        graph = character.graph
        character.fragment, character.step, character.previous_action = fragment, 0, character.action
        first = int(self.where["links"][index])
        base = graph.track.qpos[[fragment], 0, 3:7]
        observed = character.features.observe(base, self.rows, -1, index, first)
        action = graph.policies.unclipped_actions(np.array([fragment]), observed)[0]
        links = slice(first, int(self.where["links"][index + 1]))
        error = height_error(
            character.phase_resetting.link_positions[[fragment]],
            self.rows.link_pos[0, -1:, links],
            character.body_height,
        )[0]
        qpos, _ = self.pose(index)
        character.heading = float(twist_angle(qpos[3:7], base[0]))
        character.place = qpos[:2] - rotate_about_z(np.array(character.heading), graph.track.qpos[fragment, 0, :3])[:2]
        rising = graph.structure.chains[graph.structure.chain_of[fragment]].kind == "rise"
        fell = (
            error > FALL_HEIGHT_ERROR
            or not np.isfinite(action).all()
            or (not rising and np.abs(action).max() > _FALL_ACTION)
        )
        if fell:
            character.down_s, character.action = 0.0, np.zeros_like(character.action)
            character.falls += 1
            return
        character.action = graph.policies.clip_actions(action) + graph.turn_action(
            fragment, character.planner.turn_rate(self._view(index, character))
        )

    def _view(self, index: int, character: PlayedCharacter) -> PlannerView:
        roots = [self.rows.link_pos[0, -1, int(first), :2] for first in self.where["links"][:-1]]
        ahead = facing_direction(self.rows.link_quat_wxyz[:, -1, int(self.where["links"][index])], character.upright)[0]
        others = tuple(place for number, place in enumerate(roots) if number != index)
        return PlannerView(character.fragment, roots[index], float(np.arctan2(ahead[1], ahead[0])), self.time_s, others)
