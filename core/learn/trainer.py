# SPDX-License-Identifier: GPL-3.0-or-later
"""Training from beginning to end: collect, learn, say how it went, and again; it can be stopped and go on anywhere."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadFile, LearningFailed
from .environment import Environment
from .episode_statistics import Sums
from .policy import Policy
from .randomness import generator_state, restore_generator
from .records import Record, counted
from .requirement import need_torch
from .rollout import Collector, Rollout
from .settings import LearnSettings

if TYPE_CHECKING:
    from .ppo import Lesson

Look = Callable[[Record], bool | None]
"""Hears of every update; True says that it is enough."""

_VERSION = 1


class Trainer:
    """Environments, what is learned in them, and how far it is.

    Environments share nothing and run in threads of their own: two of them with half the worlds each, whose physics
    uses one thread each, keep two cores busier than one whose physics uses two. The same environments, settings and
    seed give the same policy, bit for bit, wherever training was stopped in between.
    """

    def __init__(self, environments: Sequence[Environment], settings: LearnSettings, seed: int) -> None:
        need_torch()
        from .learner import Learner

        self.settings = settings
        collecting, making, self._rng = (np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(3))
        self._collector = Collector(environments, settings.horizon, collecting)
        sizes = self._collector.observation_size, self._collector.action_size
        self.learner = Learner(*sizes, settings, making)
        self.samples = 0
        self.curve: list[Record] = []

    @property
    def policy(self) -> Policy:
        """The policy as it is now."""
        return self.learner.policy()

    def begin_anew(self, samples: int) -> None:
        """Let all episodes begin anew, as environments that have changed want it, after so many samples more."""
        self._collector.begin_anew()
        self.samples += samples

    def run(self, samples: int, look: Look | None = None) -> None:
        """Train until this many samples were seen since the beginning, or until ``look`` says that it is enough."""
        while self.samples < samples:
            record = self.update()
            if look is not None and look(record):
                break

    def update(self) -> Record:
        """Collect one rollout and learn from it; the very first one only shows what observations are like."""
        if not self.learner.moments.count:
            self._collect()
        rollout, sums = self._collect()
        lesson = self._learn(rollout)
        if not np.isfinite([lesson.policy_loss, lesson.value_loss]).all():
            raise LearningFailed(
                f"Training broke down after {self.samples} samples: its losses are no numbers any more",
                "Go on from the last checkpoint with a lower learning rate",
            )
        record = Record(
            update=len(self.curve) + 1,
            samples=self.samples,
            **counted(sums),
            **vars(lesson),
            rate=self.learner.rate,
            noise=float(self.learner.noise.mean()),
        )
        self.curve.append(record)
        return record

    def _collect(self) -> tuple[Rollout, Sums]:
        from .devices import on_threads

        self.learner.quieten(self.samples)
        rollout, seen, sums = on_threads(
            1, lambda: self._collector.collect(self.learner.act, self.learner.noise, self.learner.normaliser)
        )
        self.samples += rollout.samples
        self._seen = self.learner.moments + seen
        if not self.learner.moments.count:
            self.learner.watched(self._seen)
        return rollout, sums

    def _learn(self, rollout: Rollout) -> "Lesson":
        from .ppo import update

        lesson = update(self.learner, rollout, self._rng)
        # Only now: the rollout was normalised by what was known when it began.
        self.learner.watched(self._seen.forgetting(self.settings.remembered))
        return lesson

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how training goes on, as plain arrays."""
        about = {
            "version": _VERSION,
            "settings": self.settings.to_mapping(),
            "samples": self.samples,
            "curve": [record.to_mapping() for record in self.curve],
        }
        arrays = {f"learner.{name}": array for name, array in self.learner.state().items()}
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
        self.samples, self.curve = int(about["samples"]), [Record.from_mapping(values) for values in about["curve"]]
        self.learner.restore(_under("learner.", arrays))
        self._collector.restore(_under("collector.", arrays))
        restore_generator(self._rng, arrays["order"])


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
