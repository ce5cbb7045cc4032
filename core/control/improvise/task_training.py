# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a task in the latent space by PPO with the decoder frozen; it resumes after any update, bit for bit."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from ...learn.hyperparameters import PPOHyperparameters
from ...learn.policy import Policy
from ...learn.shards import ShardSpreader, make_local_environments
from ...learn.tested_training import TestedTraining
from ...learn.trainer import Trainer
from ...sim.engine import Engine, World
from ..tasks.task import Task
from ..tracking_policy.reference_streams import CONTROL_FPS
from .learned_file import Improviser
from .task_environment import TaskEnvironment

_TEST_COPIES = 32

PPO = PPOHyperparameters(
    horizon=16,
    epochs=3,
    minibatch=1024,
    discount=0.98,
    target_kl=0.015,
    width=256,
    critic_width=256,
    noise=0.6,
    final_noise=0.3,
    noise_anneal_samples=3_000_000,
)


@dataclass(frozen=True)
class TaskTrainingConfig:
    """worlds: copies in all. samples: budget. test_interval: samples between two tests.

    shards: environments that share the copies; whatever the machine, so that a checkpoint fits another one.
    """

    worlds: int = 256
    samples: int = 3_000_000
    test_interval: int = 300_000
    sigma_rad: float = 0.1
    ppo: PPOHyperparameters = field(default_factory=lambda: PPO)
    shards: int = 2


@dataclass(frozen=True)
class TaskTest:
    """What came of an episode of each of some characters. earned: reward a step, 0 from a fall on. figures: of the
    task, while up. up_s: mean time until fall, of ``seconds``.
    """

    samples: int
    earned: float
    up_s: float
    seconds: float
    falls: int
    figures: Mapping[str, float]

    @property
    def merit(self) -> float:
        """By which policies are compared."""
        return self.earned


def run_task(
    improviser: Improviser,
    task: Task,
    policy: Policy,
    sigma_rad: float,
    world: World,
    seed: int,
    *,
    seconds: float | None = None,
    samples: int = 0,
) -> TaskTest:
    """Let the copies of a world do the task without noise, each until it falls or time is over."""
    lasts_s = task.seconds if seconds is None else seconds
    steps = max(1, round(lasts_s * CONTROL_FPS))
    environment = TaskEnvironment(improviser, task, world, np.random.default_rng([seed, 8]), sigma_rad)
    environment.age[:] = -steps  # no episode ends before this does
    count = environment.worlds
    observed, alive = environment._observe(), np.ones(count, dtype=bool)
    up, earned, lived = np.zeros(count), 0.0, 0
    totals: dict[str, float] = {}
    for _ in range(steps):
        result = environment.step(policy(observed))
        alive &= ~result.terminated
        up += alive
        earned += float(result.rewards[alive].sum())
        lived += int(alive.sum())
        for name, values in environment.figures.items():
            totals[name] = totals.get(name, 0.0) + float(values[alive].sum())
        observed = result.observations
        if not alive.any():
            break
    figures = {name: total / max(lived, 1) for name, total in totals.items()}
    up_s = float((up / CONTROL_FPS).mean())
    return TaskTest(samples, earned / (steps * count), up_s, lasts_s, int((~alive).sum()), figures)


class TaskTraining(TestedTraining[TaskTest]):
    """Environments of a task, the trainer of its policy, and tests. Use it in a ``with``."""

    def __init__(
        self,
        improviser: Improviser,
        task: type[Task],
        engine: Engine,
        config: TaskTrainingConfig,
        seed: int,
        spreader: ShardSpreader | None = None,
        environment: Callable[..., TaskEnvironment] = TaskEnvironment,
    ) -> None:
        self.improviser, self.task, self.config, self._seed = improviser, task, config, seed
        self._worlds = ExitStack()
        stage, copies = task.make_stage(improviser.body), max(1, config.worlds // (config.shards * task.together))
        makers = [
            partial(make_task_environment, environment, improviser, task, engine, copies, generator, config.sigma_rad)
            for generator in np.random.default_rng([seed, 7]).spawn(config.shards)
        ]
        environments = () if spreader else make_local_environments(makers, config.ppo.threads, self._worlds)
        self._test_world = self._worlds.enter_context(
            closing(engine.compile(stage, _TEST_COPIES // task.together, threads=config.ppo.threads))
        )
        trainer = Trainer(makers if spreader else environments, config.ppo, seed, spreader)
        super().__init__(trainer, config.test_interval)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._worlds.close()

    def measure(self, policy: Policy) -> TaskTest:
        """What a policy earns."""
        task = self.task(self._test_world.copies * self.task.together, None, self._test_world.stage)
        found = run_task(self.improviser, task, policy, self.config.sigma_rad, self._test_world, self._seed)
        return replace(found, samples=self.samples)

    def read_result(self, fields: Mapping[str, Any]) -> TaskTest:
        """A test of a checkpoint."""
        return TaskTest(**fields)


def make_task_environment(
    environment: Callable[..., TaskEnvironment],
    improviser: Improviser,
    task: type[Task],
    engine: Engine,
    copies: int,
    rng: np.random.Generator,
    sigma_rad: float,
    threads: int,
) -> TaskEnvironment:
    """One of the environments of a training, with a world of its own."""
    stage = task.make_stage(improviser.body)
    world = engine.compile(stage, copies, threads=threads)
    return environment(improviser, task(copies * task.together, None, stage), world, rng, sigma_rad)
