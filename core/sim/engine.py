# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine protocol, batch first: N copies of a stage advanced together, all in arrays."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..geometry.quaternions import Array
from .stage import Stage


@dataclass(frozen=True, eq=False)
class SensorRows:
    """What the sensors saw at K moments of N copies; L links of all characters in a row, C characters, P props.

    time_s: (N, K). link_pos: (N, K, L, 3) metres, link_quat_wxyz: (N, K, L, 4): the links' frames in the world.
    com: (N, K, C, 3) metres, com_velocity: (N, K, C, 3) m/s, angular_momentum: (N, K, C, 3) kg·m²/s about the com.
    contact_force: (N, K, L, 3) newtons in the world, the sum of what touches each link, in the physics step that led
        to this moment.
    prop_pos: (N, K, P, 3), prop_quat_wxyz: (N, K, P, 4). Before a prop appears: where it will.
    """

    time_s: Array
    link_pos: Array
    link_quat_wxyz: Array
    com: Array
    com_velocity: Array
    angular_momentum: Array
    contact_force: Array
    prop_pos: Array
    prop_quat_wxyz: Array


class World(Protocol):
    """A stage compiled by an engine for N copies.

    A state is one row of float64, whole: a copy put back into it goes on as if it had never left.
    Poses and velocities are laid out as ``BodyModel`` says, characters one after the other.

    What every engine means by the same words:

    - A ball's servo turns its link with kp * log(q^-1 q*) - kd * w, in the link's own frame, where q* = exp(target): it
      takes the shortest way, so a target may lie anywhere, beyond pi too. A hinge's gives kp * (target - angle) -
      kd * rate. The torque is held within the limit, a ball's by its length.
    - Stiff servos stay stable at 1/120 s. Servo or not, a joint resists turning a little by itself
      (``tissue.passive_damping``), as people's do.
    - The friction of a contact is the product of what both sides have. Links have 1.
    - Links of one character touch each other only if it asks for self collision, and then not neighbours, nor links
      whose shapes overlap where all joints read zero.
    - A prop appears at the first physics step that begins at or after its time, and is nowhere before.
    - A copy that blew up is NaN from then on, in states and rows; the others do not notice.
    """

    stage: Stage
    copies: int
    dt_s: float
    state_size: int

    def state_of(self, qpos: Array, qvel: Array, time_s: Array | float = 0.0) -> Array:
        """(N, state_size) from poses (N, sum nq) and velocities (N, sum nv); props are where the stage puts them."""

    def pose_of(self, states: Array) -> tuple[Array, Array]:
        """Poses (..., sum nq) and velocities (..., sum nv) of states (..., state_size)."""

    def replace_pose(self, states: Array, qpos: Array, qvel: Array) -> Array:
        """(N, state_size) the states with other poses (N, sum nq) and velocities (N, sum nv); all else stays."""

    def replace_prop(self, states: Array, index: int, place: Array) -> Array:
        """(N, state_size) the states with one prop elsewhere; all else stays.

        place: (13,) position, wxyz, velocity in the world, angular velocity in the prop's own frame. One that has not
        appeared yet still waits.
        """

    def rollout(
        self,
        states: Array,
        targets: Array,
        *,
        substeps: int,
        forces: Array | None = None,
        muscle: Array | None = None,
        end_only: bool = False,
    ) -> tuple[Array, SensorRows]:
        """Advance every copy by K control steps of ``substeps`` physics steps each.

        states: (N, state_size) to start from. targets: (N, K, sum nu) servo targets, held for a control step.
        forces: (N, K, L, 3) newtons in the world at the links' centres of mass, besides the stage's own pushes.
        muscle: (N, K), or (N, K, C) with one for each of the C characters, or None for 1: factor on every servo's gains
            and torque limit.
        end_only: give the last of the K alone, as if K were 1, with contact forces of zero; which is
            cheaper.
        Returns states (N, K, state_size) and sensor rows, both at the end of each control step.
        """

    def sense(self, states: Array) -> SensorRows:
        """Sensor rows (K = 1) of states (N, state_size) as they are, without stepping."""

    def cast_rays(
        self, states: Array, origins: Array, directions: Array, length: float, *, character: int = 0
    ) -> Array:
        """(N, R) metres to the first thing hit that is not ``character``'s own, ``length`` where nothing is.

        origins, directions: (N, R, 3) in the world, the directions of any length.
        """

    def recompile(
        self,
        *,
        gravity: Array | None = None,
        friction: float | None = None,
        link_mass: Array | None = None,
    ) -> "World":
        """A world like this one with other gravity (3,), ground friction, or link masses (L,) in kg."""

    def bare_seconds(self, states: Array, steps: int) -> float:
        """Seconds for physics steps of N copies by the engine alone, on as many cores: a rollout's measure."""

    def close(self) -> None:
        """Let go of threads and processes."""


class Engine(Protocol):
    """A physics engine: its name, and worlds."""

    name: str

    def compile(self, stage: Stage, copies: int, *, dt_s: float = 1.0 / 120.0, threads: int = 0) -> World:
        """Build N copies of the stage; ``threads`` 0 takes every core."""


def muscle_by_character(stage: Stage, muscle: Array | None) -> Array | None:
    """(N, K, C) from muscle (N, K), the same for all characters, or (N, K, C); None stays None."""
    if muscle is None:
        return None
    factors, characters = np.asarray(muscle, dtype=float), len(stage.characters)
    if factors.ndim == 2:
        return np.repeat(factors[..., None], characters, axis=-1)
    if factors.shape[2:] != (characters,):
        raise ValueError(
            f"muscle has the shape {factors.shape}: give (copies, steps), or (copies, steps, {characters}) "
            "with one factor for each character"
        )
    return factors


def character_offsets(stage: Stage) -> dict[str, NDArray[np.int64]]:
    """(C + 1,) where each character begins in poses ('nq'), velocities ('nv'), targets ('nu') and links ('links')."""
    bodies = [character.body for character in stage.characters]
    counts = {
        "nq": [body.nq for body in bodies],
        "nv": [body.nv for body in bodies],
        "nu": [body.nu for body in bodies],
        "links": [len(body.links) for body in bodies],
    }
    return {name: np.cumsum([0, *values]) for name, values in counts.items()}
