# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference motion: targets for the servos and what the sensors should see, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...body import BodyModel
from ...body.four_legs import find_front_feet
from ...body.pose_space import PoseSpace
from ...body.poses import pose_of_clip
from ...geometry.quaternions import Array
from ...motion import Clip
from ...sim.engine import SensorRows, World
from .servo_targets import compute_feedforward_targets

CONTROL_FPS = 60
FRAGMENT_STEPS = 6  # control steps in a fragment of 0.1 s, the papers' length
_EASE_STEPS = 2
EASE = np.minimum(np.arange(1, FRAGMENT_STEPS + 1) / _EASE_STEPS, 1.0)[:, None]
"""How far the offsets of a fragment have come in each of its steps: a servo whose target jumps jerks."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A clip as it is tracked, at ``CONTROL_FPS``; frame 0 is the start.

    qpos: (T, nq), rates: (T, nv): the pose and its velocity. states: (T, state_size) the world in each frame.
    targets: (T, nu) for the servos to be in that frame. muscle: (T,) share of strength that leads to it, 0 to 1.
    rows: what the sensors see in each frame, as (1, T, ...) arrays of ``SensorRows``.
    feet, tips: links that stand, and links whose height counts (feet, hands, head).
    """

    body: BodyModel
    space: PoseSpace
    qpos: Array
    rates: Array
    states: Array
    targets: Array
    muscle: Array
    rows: SensorRows
    feet: NDArray[np.int64]
    tips: NDArray[np.int64]

    @property
    def fragments(self) -> int:
        """How many whole fragments the clip has; a rest shorter than one is played with the last targets."""
        return -(-(len(self.states) - 1) // FRAGMENT_STEPS)

    def frames_of(self, fragment: int) -> NDArray[np.int64]:
        """(FRAGMENT_STEPS,) the frames that a fragment's control steps lead to, held at the clip's end."""
        return self.frames_of_many(np.array([fragment]))[0]

    def frames_of_many(self, fragments: NDArray[np.int64]) -> NDArray[np.int64]:
        """(N, FRAGMENT_STEPS) the same for fragments (N,)."""
        steps = fragments[:, None] * FRAGMENT_STEPS + np.arange(1, FRAGMENT_STEPS + 1)
        return np.minimum(steps, len(self.states) - 1)

    def servo_targets(self, fragments: NDArray[np.int64], before: Array, offsets: Array) -> Array:
        """(N, FRAGMENT_STEPS, nu) servo targets of fragments (N,): offsets (N, nu), eased in from those before them."""
        eased = before[:, None] + EASE * (offsets - before)[:, None]
        return np.asarray(self.targets[self.frames_of_many(fragments)] + eased)

    def frame_before(self, fragments: NDArray[np.int64]) -> NDArray[np.int64]:
        """(N,) the frames that fragments (N,) begin in."""
        return np.minimum(fragments * FRAGMENT_STEPS, len(self.states) - 1)


def make_reference(body: BodyModel, clip: Clip, world: World, muscle: Array | None = None) -> Reference:
    """The reference of a prepared clip in ``world``; muscle: (T,) at the clip's frames, None for 1."""
    steady = clip.resample(CONTROL_FPS, end="extend")
    qpos, qvel = pose_of_clip(body, steady)
    targets = compute_feedforward_targets(body, qpos, CONTROL_FPS)
    states = compute_states(world, qpos, qvel)
    strength = np.ones(len(qpos))
    if muscle is not None:
        strength = np.interp(np.arange(len(qpos)) / CONTROL_FPS, np.arange(len(muscle)) / clip.fps, muscle)
    return Reference(
        body,
        PoseSpace(body),
        qpos,
        qvel,
        states,
        targets,
        strength,
        read_sensors(world, states),
        find_foot_links(body),
        find_end_effectors(body),
    )


def find_foot_links(body: BodyModel) -> NDArray[np.int64]:
    """Links that stand: feet and toes, or the shins of a body without feet, and front feet."""
    feet = _links(body, ("foot", "toe"))
    return np.union1d(feet if len(feet) else _links(body, ("shin",)), find_front_feet(body))


def find_end_effectors(body: BodyModel) -> NDArray[np.int64]:
    """Links whose height counts."""
    return _links(body, ("foot", "hand", "forearm", "head"))


def _links(body: BodyModel, roles: Sequence[str]) -> NDArray[np.int64]:
    return np.array([i for i, link in enumerate(body.links) if link.role in roles], dtype=np.int64)


def compute_states(world: World, qpos: Array, qvel: Array) -> Array:
    """(T, state_size) of poses (T, nq), at their own times."""
    time_s = np.arange(len(qpos)) / CONTROL_FPS
    blocks = []
    for first in range(0, len(qpos), world.copies):
        some = slice(first, first + world.copies)
        blocks.append(world.state_of(*(pad_batch(values[some], world.copies) for values in (qpos, qvel, time_s))))
    return np.concatenate(blocks)[: len(qpos)]


def read_sensors(world: World, states: Array) -> SensorRows:
    """Sensor rows (1, T, ...) of states (T, state_size), a batch at a time."""
    blocks = [
        world.sense(pad_batch(states[i : i + world.copies], world.copies)) for i in range(0, len(states), world.copies)
    ]
    fields = {
        name: np.concatenate([np.array(getattr(block, name))[:, 0] for block in blocks])[: len(states)][None]
        for name in vars(blocks[0])
    }
    return SensorRows(**fields)


def pad_batch(values: Array, count: int) -> Array:
    """(count, ...) the values and copies of the last one."""
    return np.concatenate([values, np.repeat(values[-1:], count - len(values), axis=0)])
