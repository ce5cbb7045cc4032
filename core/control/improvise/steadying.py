# SPDX-License-Identifier: GPL-3.0-or-later
"""Steadying: the prior learns by trial, on its own noise, what keeps a body up, and leaves what it was but little.

What was distilled does what an expert would do on average; nobody told it which of that leads to a fall. So a policy in
the latent space, whose noise is the prior's own, earns by staying up and pays for how far it moves the prior's means:
half of their square is the divergence from what the data say. Besides it earns by moving like the library, and more so
in ways that are shown too seldom.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...geometry.quaternions import Array
from ...learn.environment import Floats
from ...learn.policy import Policy
from ...learn.shards import ShardSpreader
from ...sim.engine import Engine, World
from ...sim.stage import Character, Stage
from ..tasks.task import Flags, Moment, Task
from .latent_model import LatentModel
from .learned_file import Improviser
from .task_environment import TaskEnvironment
from .task_training import PPO, TaskTest, TaskTraining, TaskTrainingConfig
from .wandering import WanderingBodies, wander_by, wander_until_fall
from .way_balance import WayBalance

_COPIES, _TEST_S = 32, 60.0
_NEARLY_NONE = 1e-6  # of a latent number that may be moved for nothing


class Steady(Task):
    """To stay up; nothing is seen of it but the body's own state."""

    name = "steady"
    label = "Stay Up"
    help = "stay up on noise"
    goal_size = 0
    seconds = 40.0

    def prepare(self, which: Flags, moment: Moment, rng: np.random.Generator) -> None:
        """Nothing."""

    def see(self, moment: Moment) -> Array:
        """(N, 0)."""
        return np.zeros((self.count, 0))

    def earn(self, before: Moment, moment: Moment) -> dict[str, Array]:
        """The same for every step; who has fallen earns nothing more."""
        return {"up": np.ones(self.count)}

    def figures(self, moment: Moment) -> dict[str, Array]:
        """None."""
        return {}


class SteadyingEnvironment(TaskEnvironment):
    """Bodies that wander. variety: what it earns to move like the library, beside one for staying up."""

    def __init__(
        self,
        improviser: Improviser,
        task: Task,
        world: World,
        rng: np.random.Generator,
        sigma_rad: float,
        variety: float,
    ) -> None:
        self._balance, self._variety = WayBalance(improviser.known), variety
        super().__init__(improviser, task, world, rng, sigma_rad)

    def earn(self, before: Moment) -> dict[str, Array]:
        """To be up, and to move like the library, best in ways that are shown too seldom."""
        found = super().earn(before)
        if self._variety:
            like, lacking = self._balance.judge(np.nan_to_num(self.body.rows))
            found |= {"like": self._variety * like, "variety": self._variety * like * lacking}
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Also what was shown of late."""
        return {**super().state(), "shown": self._balance.shown.copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> Floats:
        """Put back what ``state`` gave."""
        if state["shown"].shape != self._balance.shown.shape:
            raise ValueError(f"{state['shown'].shape} shown")
        self._balance.shown = np.array(state["shown"])
        return super().restore(state)


@dataclass(frozen=True)
class SteadyingConfig:
    """style: weight of the square of what the prior's means are moved by. variety: see ``SteadyingEnvironment``.
    samples: that the training is for.
    """

    style: float = 0.01
    variety: float = 2.0
    worlds: int = 256
    samples: int = 2_000_000
    test_interval: int = 400_000
    shards: int = 2
    threads: int = 0

    def to_task_config(self) -> TaskTrainingConfig:
        """PPO whose noise is that of the prior, as it is and as it stays."""
        ppo = replace(
            PPO,
            discount=0.99,
            noise=1.0,
            final_noise=1.0,
            noise_anneal_samples=0,
            action_limit=_NEARLY_NONE,
            action_penalty=self.style,
            output_scale=1.0,
            threads=self.threads,
        )
        return TaskTrainingConfig(self.worlds, self.samples, self.test_interval, 0.0, ppo, self.shards)


class SteadyingTraining(TaskTraining):
    """PPO on noise; the policy that stays up longest is kept, be it the one that changes nothing."""

    def __init__(
        self,
        improviser: Improviser,
        engine: Engine,
        config: SteadyingConfig,
        seed: int,
        spreader: ShardSpreader | None = None,
    ) -> None:
        environment = partial(SteadyingEnvironment, variety=config.variety)
        super().__init__(improviser, Steady, engine, config.to_task_config(), seed, spreader, environment)
        stage = Stage((Character(improviser.body),))
        world = engine.compile(stage, _COPIES, threads=config.threads)
        self._wandering = self._worlds.enter_context(closing(world))

    def measure(self, policy: Policy) -> TaskTest:
        """How long characters stay up on noise."""
        improviser, rng = self.improviser, np.random.default_rng([self._seed, 9])
        starts = rng.integers(len(improviser.start_qpos), size=_COPIES)
        qpos, qvel = improviser.start_qpos[starts], improviser.start_qvel[starts]
        bodies = WanderingBodies(improviser.body, self._wandering, qpos, qvel, improviser.fall_heights)
        found = wander_until_fall(bodies, wander_by(self.steadied(policy)), _TEST_S, rng)
        return TaskTest(self.samples, found.mean_up_s / _TEST_S, found.mean_up_s, _TEST_S, int(found.fell.sum()), {})

    def steadied(self, policy: Policy) -> LatentModel:
        """The model with a policy's steps."""
        return self.improviser.model.with_steadier(policy)

    def describe(self) -> Mapping[str, Any]:
        """How it went."""
        return {"samples": self.samples, "tests": [vars(test) | {"figures": {}} for test in self.tests]}
