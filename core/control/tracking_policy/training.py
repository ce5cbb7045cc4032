# SPDX-License-Identifier: GPL-3.0-or-later
"""Training the tracking policy on streams; it can be stopped and resumed after any update, bit for bit."""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ...learn.hyperparameters import PPOHyperparameters
from ...learn.learning_curve import UpdateRecord
from ...learn.policy import Policy
from ...learn.shards import ShardSpreader, make_local_environments
from ...learn.tested_training import TestedTraining
from ...learn.trainer import Trainer
from ...sim.engine import Engine
from ...sim.stage import Character, Stage
from .controller import TrackingController
from .environment import TrackingConfig, TrackingEnvironment, find_acting
from .observations import StreamFeatures
from .pushes import PushConfig
from .reference_streams import ReferenceStreams
from .stream_test import StreamTest, follow_streams

_TEST_COPIES, _TEST_MINUTES = 32, 4.0
# Of the budget, and in samples at the latest: who still falls by itself learns nothing from being pushed.
_PUSHED_FROM, _PUSHED_AT_LATEST = 0.3, 2_000_000

PPO = PPOHyperparameters(
    horizon=8,
    epochs=3,
    minibatch=1024,
    discount=0.97,
    target_kl=0.02,
    width=256,
    critic_width=256,
    noise=0.2,
    final_noise=0.15,
    noise_anneal_samples=15_000_000,
    output_scale=0.3,
)


@dataclass(frozen=True)
class TrackingTrainingConfig:
    """worlds: copies in all. samples: budget; it says when noise is small and pushes begin.

    test_interval: samples between two tests on streams that are not practised on.
    shards: environments that share the copies; whatever the machine, so that a checkpoint fits another one.
    """

    worlds: int = 512
    samples: int = 20_000_000
    test_interval: int = 1_000_000
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    ppo: PPOHyperparameters = field(default_factory=lambda: PPO)
    shards: int = 2


def make_training_config(
    samples: int,
    worlds: int,
    tracking: TrackingConfig,
    *,
    pushes: bool,
    shards: int = TrackingTrainingConfig.shards,
    device: str = "auto",
    threads: int = 0,
) -> TrackingTrainingConfig:
    """The configuration of a training of so many samples; copies are rounded up to a multiple of the shards."""
    tracking = replace(tracking, pushes=PushConfig() if pushes else PushConfig(every_s=0.0))
    ppo = replace(PPO, device=device, threads=threads, noise_anneal_samples=round(0.75 * samples))
    interval = max(min(1_000_000, samples // 4), 1)
    return TrackingTrainingConfig(shards * -(-worlds // shards), samples, interval, tracking, ppo, shards)


class TrackingTraining(TestedTraining[StreamTest]):
    """Environments on streams, the trainer of their policy, and tests on other streams. Use it in a ``with``.

    begin: a policy to go on from, such as that of another body with as many joints.
    """

    def __init__(
        self,
        practised: ReferenceStreams,
        tested: ReferenceStreams,
        engine: Engine,
        config: TrackingTrainingConfig,
        seed: int,
        begin: Policy | None = None,
        spreader: ShardSpreader | None = None,
    ) -> None:
        self.config, self._seed, self.tested = config, seed, tested
        self._worlds = ExitStack()
        self._pushes = config.tracking.pushes
        quiet = replace(config.tracking, pushes=PushConfig(every_s=0.0))
        acting = find_acting(practised.body, config.tracking.all_joints)
        stage, features = Stage((Character(practised.body),)), StreamFeatures(practised, acting)
        copies = config.worlds // config.shards
        makers = [
            partial(make_tracking_environment, practised, features, engine, copies, generator, quiet)
            for generator in np.random.default_rng([seed, 1]).spawn(config.shards)
        ]
        environments = () if spreader else make_local_environments(makers, config.ppo.threads, self._worlds)
        self.environments, self._pushed = environments, False
        test_world = engine.compile(stage, _TEST_COPIES, threads=config.ppo.threads)
        self._test_world = self._worlds.enter_context(closing(test_world))
        trainer = Trainer(makers if spreader else self.environments, config.ppo, seed, spreader)
        super().__init__(trainer, config.test_interval)
        if begin is not None:
            self.trainer.model.load_policy(begin)

    def __enter__(self) -> "TrackingTraining":
        return self

    def __exit__(self, *_: object) -> None:
        self._worlds.close()

    def controller(self, policy: Policy | None = None, about: Mapping[str, Any] | None = None) -> TrackingController:
        """The best policy, or another one, ready to act."""
        tracking = self.config.tracking
        return TrackingController(policy or self.policy, tracking.smoothing, tracking.all_joints, about or {})

    @property
    def is_pushed(self) -> bool:
        """Whether it has come so far that it is pushed while it practises."""
        begins = min(_PUSHED_FROM * self.config.samples, _PUSHED_AT_LATEST)
        return bool(self._pushes.every_s) and self.samples >= begins

    def advance(self) -> UpdateRecord:
        """One update, and a test if it is time for one."""
        if self.is_pushed and not self._pushed:
            self._pushed = True
            for shard in self.trainer.shards:
                shard.configure("set_pushes", self._pushes)
        return super().advance()

    def measure(self, policy: Policy) -> StreamTest:
        """See how often a policy falls on streams that it does not practise."""
        found = follow_streams(self.controller(policy), self.tested, self._test_world, _TEST_MINUTES, self._seed)
        return replace(found, samples=self.samples)

    def read_result(self, fields: Mapping[str, Any]) -> StreamTest:
        """A test of a checkpoint."""
        return StreamTest(**fields)


def make_tracking_environment(
    streams: ReferenceStreams,
    features: StreamFeatures,
    engine: Engine,
    copies: int,
    rng: np.random.Generator,
    config: TrackingConfig,
    threads: int,
) -> TrackingEnvironment:
    """One of the environments of a training, with a world of its own."""
    world = engine.compile(Stage((Character(streams.body),)), copies, threads=threads)
    return TrackingEnvironment(streams, features, world, rng, config)
