# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a teacher by PPO, and comparing it with the exact answer: the same tasks, from the same frames."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....geometry.quaternions import Array
from ....learn.hyperparameters import PPOHyperparameters
from ....learn.policy import Policy
from ....learn.trainer import Trainer
from ..goals import find_goal
from ..planning import Wanted, plan_response
from ..responding import Responding
from ..response_tables import STEP
from ..transition_graph import Frames
from .frame_environment import REWARD_SCALE, TURN_M2, FrameEnvironment

PPO = PPOHyperparameters(
    horizon=24,
    epochs=4,
    minibatch=1024,
    discount=0.99,
    actor_learning_rate=5e-4,
    noise=0.6,
    final_noise=0.3,
    activation="relu",
    device="cpu",
    threads=1,
)
WORLDS = 128


def train_teacher(
    responding: Responding,
    names: Sequence[str],
    samples: int,
    seed: int,
    *,
    prune: bool = True,
    progress: Callable[[float], None] = lambda _: None,
    settings: PPOHyperparameters = PPO,
) -> Trainer:
    """A teacher of so many decisions, for goals by name; ``Trainer.curve`` has what it earned (figure 6)."""
    environment = FrameEnvironment(responding, names, WORLDS, seed, prune=prune)
    trainer = Trainer([environment], replace(settings, noise_anneal_samples=samples), seed)
    trainer.run(samples, lambda record: progress(record.samples / samples))
    return trainer


def compare_teacher(
    responding: Responding, names: Sequence[str], policy: Policy, count: int, seed: int
) -> dict[str, float]:
    """Mean cost in m² of transitions and of the angle that is left: of the teacher, of the exact answer, of the tables.

    The exact answer is the search that cues are answered by; the tables' own path does not look at the direction.
    """
    environment = FrameEnvironment(responding, names, count, seed)
    tasks = environment.draw(count)
    found = {"teacher": float(_play(environment, tasks, policy).mean())}
    exact, plain = [], []
    for frame, goal, left, angle in zip(*tasks, strict=True):
        own = find_goal(responding.library, names[int(goal)])
        table, steps = responding.table(own), int(left)
        straight = own.frames if own.is_deed else own.frames[:0]
        want = Wanted(heading=float(angle))
        plan = plan_response(responding.planner, table, straight, int(frame), steps * STEP, 0j, 0.0, want)
        missed = float(np.angle(np.exp(1j * (angle - table.turn[steps, frame]))))
        alone = float(table.cost[steps, frame]) + TURN_M2 * missed**2
        plain.append(alone)
        exact.append(alone if plan is None else plan.cost + _missing(responding, int(frame), plan.frames, float(angle)))
    return {**found, "exact": float(np.mean(exact)), "tables": float(np.mean(plain))}


def _play(environment: FrameEnvironment, tasks: tuple[Frames, Frames, Frames, Array], policy: Policy) -> Array:
    """(N,) m² that a policy's episodes cost."""
    observations = environment.begin_at(*tasks)
    cost, running = np.zeros(environment.worlds), np.ones(environment.worlds, dtype=bool)
    while running.any():
        result = environment.step(policy(observations))
        cost[running] -= result.rewards[running] / REWARD_SCALE
        running &= ~result.terminated
        observations = result.observations
    return cost


def _missing(responding: Responding, frame: int, frames: Frames, angle: float) -> float:
    """m² for the angle that is left when frames were played, step by step as the environment counts it."""
    roots, now, left = responding.planner.roots, frame, angle
    for first in range(0, len(frames), STEP):
        own = frames[first : first + STEP]
        played = int(own[0]) - 1
        turned = roots.play(np.array([played]), np.array([int(own[-1])]))[1][0]
        left -= float(turned + roots.drift(np.array([now]), np.array([played]))[1][0])
        now = int(own[-1])
    return TURN_M2 * float(np.angle(np.exp(1j * left))) ** 2


def describe_teacher(trainer: Trainer, compared: dict[str, float]) -> dict[str, Any]:
    """What the report says of a teacher."""
    curve = [[record.samples, record.earned / REWARD_SCALE] for record in trainer.curve if record.episodes]
    best = min(("teacher", "exact"), key=lambda name: compared[name])
    return {"samples": trainer.samples, "cost_m2": compared, "curve": curve, "default": best}
