# SPDX-License-Identifier: GPL-3.0-or-later
"""Short ways to set a stage and let it run."""

import numpy as np

from sinew.core.body import BodyModel
from sinew.core.sim.engine import SensorRows, World
from sinew.core.sim.stage import Character, Stage

GRAVITY = 9.81
WEIGHTLESS = np.zeros(3)
HZ = 120


def stage_of(*bodies: BodyModel, **options) -> Stage:
    return Stage(tuple(Character(body) for body in bodies), **options)


def zero_velocity(world: World, copies: int | None = None) -> np.ndarray:
    return np.zeros((copies or world.copies, sum(character.body.nv for character in world.stage.characters)))


def begin(world: World, *poses: np.ndarray, qvel: np.ndarray | None = None, time_s: float = 0.0) -> np.ndarray:
    """States of all copies with the characters in the given poses (nq,), one after the other."""
    qpos = np.tile(np.concatenate(poses), (world.copies, 1))
    velocity = zero_velocity(world) if qvel is None else np.tile(np.asarray(qvel, float), (world.copies, 1))
    return world.state_of(qpos, velocity, time_s)


def play(
    world: World, states: np.ndarray, seconds: float, targets: np.ndarray | None = None, *, substeps: int = 4, **options
) -> tuple[np.ndarray, SensorRows]:
    """Run at control steps of ``substeps``; ``targets`` (nu,) are held throughout, zero unless given."""
    count = round(seconds / (world.dt_s * substeps))
    nu = sum(character.body.nu for character in world.stage.characters)
    held = np.zeros(nu) if targets is None else np.asarray(targets, float)
    return world.rollout(states, np.broadcast_to(held, (world.copies, count, nu)), substeps=substeps, **options)


def free_pose(pos=(0.0, 0.0, 0.0), quat=(1.0, 0.0, 0.0, 0.0)) -> np.ndarray:
    """(7,) of a body that is a single link."""
    return np.array([*pos, *quat], dtype=float)


def free_velocity(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)) -> np.ndarray:
    """(6,) of a body that is a single link."""
    return np.array([*linear, *angular], dtype=float)
