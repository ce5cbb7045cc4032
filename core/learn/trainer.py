# SPDX-License-Identifier: GPL-3.0-or-later
"""The training loop: collect a rollout, update, record; it can be stopped and resumed after any update."""

import dataclasses
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, LearningFailed
from .environment import Environment
from .episode_statistics import EpisodeStatistics
from .hyperparameters import PPOHyperparameters
from .learning_curve import UpdateRecord, episode_fields
from .policy import Policy
from .randomness import generator_state, restore_generator
from .requirement import require_torch
from .rollout import Rollout, RolloutCollector, arrays_under
from .shards import EnvironmentMaker, Shard, ShardSpreader

if TYPE_CHECKING:
    from .ppo import UpdateStatistics

OnUpdate = Callable[[UpdateRecord], bool | None]
"""Called after every update; True stops the training."""

_VERSION = 1


class Trainer:
    """Environments, the networks that learn in them, and the learning curve.

    Environments share nothing and run in threads of their own: two of them with half the worlds each, whose physics
    uses one thread each, keep two cores busier than one whose physics uses two. With a ``spreader`` they are made and
    act elsewhere, and ``environments`` are their makers: then, too, the same environments, settings and
    seed give the same policy, bit for bit, wherever training was stopped in between.
    """

    def __init__(
        self,
        environments: Sequence[Environment] | Sequence[EnvironmentMaker],
        settings: PPOHyperparameters,
        seed: int,
        spreader: ShardSpreader | None = None,
    ) -> None:
        require_torch()
        from .actor_critic import ActorCritic

        self.settings = settings
        collecting, initialising, self._rng = (
            np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(3)
        )
        self._spreader = spreader
        self._collector = RolloutCollector(environments, settings.horizon, collecting, spreader)
        sizes = self._collector.observation_size, self._collector.action_size
        self.model = ActorCritic(*sizes, settings, initialising)
        self.samples = 0
        self.curve: list[UpdateRecord] = []

    @property
    def shards(self) -> Sequence[Shard]:
        """The environments, here or elsewhere."""
        return self._collector.shards

    @property
    def policy(self) -> Policy:
        """The policy as it is now."""
        return self.model.policy()

    def reset_episodes(self, samples: int) -> None:
        """Begin new episodes in all worlds, whose environments have changed, and count so many samples more."""
        self._collector.reset()
        self.samples += samples

    def run(self, samples: int, on_update: OnUpdate | None = None) -> None:
        """Train until this many samples were collected since the beginning, or until ``on_update`` stops it."""
        while self.samples < samples:
            record = self.update()
            if on_update is not None and on_update(record):
                break

    def update(self) -> UpdateRecord:
        """Collect one rollout and learn from it; the very first one only initialises the observations' statistics."""
        if not self.model.observation_statistics.count:
            self._collect()
        rollout, episodes = self._collect()
        statistics = self._learn(rollout)
        if not np.isfinite([statistics.policy_loss, statistics.value_loss]).all():
            raise LearningFailed(
                f"Training broke down after {self.samples} samples: its losses are no numbers any more",
                "Go on from the last checkpoint with a lower learning rate",
            )
        record = UpdateRecord(
            update=len(self.curve) + 1,
            samples=self.samples,
            **episode_fields(episodes),
            **vars(statistics),
            rate=self.model.learning_rate,
            noise=float(self.model.noise.mean()),
        )
        self.curve.append(record)
        return record

    def _collect(self) -> tuple[Rollout, EpisodeStatistics]:
        from .devices import run_with_threads

        self.model.anneal_noise(self.samples)
        rollout, observed, episodes = run_with_threads(
            1,
            lambda: self._collector.collect(
                self.model.act, self.model.noise, self.model.normaliser, self.model.policy_weights()
            ),
        )
        self.samples += rollout.samples
        self._observed = self.model.observation_statistics + observed
        if not self.model.observation_statistics.count:
            self.model.set_observation_statistics(self._observed)
        return rollout, episodes

    def _learn(self, rollout: Rollout) -> "UpdateStatistics":
        from .ppo import ppo_update

        began = time.perf_counter()
        statistics = ppo_update(self.model, rollout, self._rng)
        if self._spreader is not None:
            self._spreader.note_learning(time.perf_counter() - began)
        # Only now: the rollout was normalised by the statistics before it.
        self.model.set_observation_statistics(self._observed.with_limited_count(self.settings.statistics_window))
        return statistics

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how training goes on, as plain arrays."""
        about = {
            "version": _VERSION,
            "settings": dataclasses.asdict(self.settings),
            "samples": self.samples,
            "curve": [record.to_mapping() for record in self.curve],
        }
        arrays = {f"learner.{name}": array for name, array in self.model.state().items()}
        arrays |= {f"collector.{name}": array for name, array in self._collector.state().items()}
        arrays["order"] = generator_state(self._rng)
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``, and change nothing."""
        before = self.state()
        try:
            self._restore(arrays)
        except (BadFile, KeyError, TypeError, ValueError, IndexError) as error:
            self._restore(before)
            if isinstance(error, BadFile):
                raise
            raise BadFile(
                f"The checkpoint does not fit this training: {error}",
                "Go on with the body, clip and settings that it was begun with, or begin anew",
            ) from error

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        about = json.loads(np.asarray(arrays["about"], dtype=np.uint8).tobytes().decode())
        if about["version"] != _VERSION:
            raise BadFile(
                f"The training is of version {about['version']}, and this Sinew knows {_VERSION}",
                "Go on with the Sinew that it was begun with, or begin anew",
            )
        self.samples, self.curve = (
            int(about["samples"]),
            [UpdateRecord.from_mapping(values) for values in about["curve"]],
        )
        self.model.restore(arrays_under("learner.", arrays))
        self._collector.restore(arrays_under("collector.", arrays))
        restore_generator(self._rng, arrays["order"])
