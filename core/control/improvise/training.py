# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a latent model: world model first, then the conditional VAE; it resumes after any update, bit for bit."""

import json
import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile
from ...learn.learning_curve import UpdateRecord
from ...learn.normaliser import RunningStatistics
from ...learn.policy import Policy
from ...learn.requirement import require_torch
from ...learn.rollout import arrays_under
from ...learn.shards import Collector, ShardSpreader
from ...learn.threads import count_threads
from ...sim.engine import Engine
from ...sim.stage import Character, Stage
from ..tracking_policy.controller import TrackingController
from ..tracking_policy.reference_streams import ReferenceStreams
from .body_states import StateReader
from .expert import Expert
from .falling import find_fall_heights
from .latent_model import DistilledLearner, LatentModel
from .rollouts import ExpertRows, RolloutBodies, RolloutConfig, join_rows, make_rollout_bodies
from .stream_matching import StreamMatcher
from .wandering import WanderingBodies, wander_by, wander_until_fall

if TYPE_CHECKING:
    from ...learn.conditional_vae import VAESettings

_VERSION = 1
_TEST_COPIES, TEST_S = 32, 30.0
_HORIZONS = (1, 8, 30)
_ERROR_COPIES = 128


@dataclass(frozen=True)
class LatentTrainingConfig:
    """worlds: copies. world_samples: that the world model is trained on, of the expert's; then it is frozen.

    cloning_samples: of the expert's that the autoencoder begins with. test_interval: samples between two tests.
    on_policy: whether the learner acts then, and the expert labels; else it clones on. threads: of physics.
    shards: worlds that share the copies; whatever the machine, so that a checkpoint fits another one.
    """

    worlds: int = 256
    samples: int = 5_000_000
    world_samples: int = 180_000
    cloning_samples: int = 180_000
    test_interval: int = 400_000
    on_policy: bool = True
    epochs: int = 2
    minibatch: int = 512
    threads: int = 0
    rollouts: RolloutConfig = field(default_factory=RolloutConfig)
    shards: int = 1


@dataclass(frozen=True)
class WanderTest:
    """How long the newest model stayed up on noise. samples: how much had been learned from."""

    samples: int
    mean_up_s: float
    falls: int

    @property
    def merit(self) -> float:
        """By which models are compared: the paper's time until fall, and not a loss."""
        return self.mean_up_s


class LatentTraining:
    """Rollouts, world model and autoencoder. Use it in a ``with``."""

    def __init__(
        self,
        controller: TrackingController,
        streams: ReferenceStreams,
        engine: Engine,
        config: LatentTrainingConfig,
        settings: "VAESettings",
        seed: int,
        spreader: ShardSpreader | None = None,
    ) -> None:
        require_torch()
        from ...learn.conditional_vae import ConditionalVAE
        from ...learn.world_model import WorldModel

        self.config, self.streams, self._seed = config, streams, seed
        self._worlds, body = ExitStack(), streams.body
        self.reader, self.fall_heights = StateReader(body), find_fall_heights(streams)
        self.matcher = StreamMatcher(streams, self.reader)
        self._spreader = spreader
        self.bodies = self._make_bodies(controller, engine)
        test_world = engine.compile(Stage((Character(body),)), _TEST_COPIES, threads=config.threads)
        self._test_world = self._worlds.enter_context(closing(test_world))
        initial, seen = np.random.default_rng([seed, 2]), controller.policy.observation_size
        self.vae = ConditionalVAE((self.reader.size, seen, body.nu), settings, initial)
        self.world_model = WorldModel(self.reader.size, body.nu, initial, settings.threads)
        self.samples, self._updates = 0, 0
        self.tests: list[WanderTest] = []
        self.curve: list[list[float]] = []
        self.world_errors: dict[str, float] = {}
        self.best: LatentModel | None = None

    def __enter__(self) -> "LatentTraining":
        return self

    def __exit__(self, *_: object) -> None:
        self._worlds.close()

    def _make_bodies(self, controller: TrackingController, engine: Engine) -> Sequence[Collector]:
        shards, streams = self.config.shards, self.streams
        copies, seeds = self.config.worlds // shards, [(self._seed, 1, shard) for shard in range(shards)]
        if self._spreader is not None:
            return self._spreader.place(
                [partial(make_rollout_bodies, controller, streams, engine, copies, seed) for seed in seeds]
            )
        expert, bodies = Expert(controller, streams), list[RolloutBodies]()
        threads = max(1, count_threads(self.config.threads) // shards)
        for seed in seeds:
            world = engine.compile(Stage((Character(streams.body),)), copies, threads=threads)
            self._worlds.enter_context(closing(world))
            bodies.append(RolloutBodies(expert, self.reader, self.matcher, world, seed, self.fall_heights))
        return bodies

    def collect(self, learner: DistilledLearner | None, rollouts: RolloutConfig) -> ExpertRows:
        """A rollout of all shards, each in a thread of its own, or elsewhere. learner: None where the expert acts."""
        if self._spreader is not None:
            return join_rows(self._spreader.collect_parts(self.bodies, learner, rollouts))
        if len(self.bodies) == 1:
            return join_rows([self.bodies[0].collect(learner, rollouts)])
        with ThreadPoolExecutor(len(self.bodies)) as pool:
            waiting = [pool.submit(one.collect, learner, rollouts) for one in self.bodies]
            return join_rows([one.result() for one in waiting])

    @property
    def model(self) -> LatentModel:
        """The model that stayed up longest when tested; the newest before any test."""
        return self._newest() if self.best is None else self.best

    def _newest(self) -> LatentModel:
        _, prior, decoder = self.vae.policies()
        return LatentModel(prior, decoder)

    @property
    def phase(self) -> str:
        """What is being learned, in words."""
        return "Learning what actions lead to" if self._is_world_phase else "Learning to move like the library"

    @property
    def _is_world_phase(self) -> bool:
        return self.samples < self.config.world_samples

    def advance(self) -> UpdateRecord:
        """One rollout, what is learned from it, and a test if it is time for one."""
        rng = np.random.default_rng([self._seed, 3, self._updates])
        config, first = self.config, not self._updates
        begins_cloning = config.world_samples + config.cloning_samples
        learner = None
        if config.on_policy and self.samples >= begins_cloning:
            encoder, prior, decoder = self.vae.policies(averaged=False)
            learner = DistilledLearner(
                encoder, LatentModel(prior, decoder), is_variational=self.vae.settings.is_variational
            )
        rows = self.collect(learner, config.rollouts)
        self._updates += 1
        if first:
            self._set_statistics(rows)
        began = time.perf_counter()
        terms = self._learn_world(rows, rng) if self._is_world_phase else self._learn_actions(rows, rng)
        if self._spreader is not None:
            self._spreader.note_learning(time.perf_counter() - began)
        self.samples += rows.samples
        if not self._is_world_phase and not self.world_errors:
            self.measure_world_model()
        last = self.tests[-1].samples if self.tests else 0
        if self.samples - max(last, begins_cloning - config.test_interval) >= config.test_interval:
            self.test()
        self.curve.append([float(self.samples), *terms.values()])
        return _record(self._updates, self.samples, terms, rows)

    def _set_statistics(self, rows: ExpertRows) -> None:
        state, seen, label = (_flat(one) for one in (rows.state[:-1], rows.seen, rows.label))
        self.vae.set_statistics(*(RunningStatistics.from_rows(one) for one in (state, seen, label)))

    def _learn_world(self, rows: ExpertRows, rng: np.random.Generator) -> dict[str, float]:
        whole = rows.goes_on.reshape(-1)
        state, action, after = (_flat(one)[whole] for one in (rows.state[:-1], rows.action, rows.state[1:]))
        error = self.world_model.learn(
            state, action, after, rng, epochs=2 * self.config.epochs, minibatch=self.config.minibatch
        )
        return {"world_model": error}

    def _learn_actions(self, rows: ExpertRows, rng: np.random.Generator) -> dict[str, float]:
        from ...learn.conditional_vae import TransitionBatch

        settings = self.vae.settings
        sequence = sequence_seen = None
        if settings.lookahead > 1 and settings.alpha:
            sequence, sequence_seen = cut_sequences(rows, settings.lookahead)
        state, seen, label = (_flat(one) for one in (rows.state[:-1], rows.seen, rows.label))
        batch = TransitionBatch(state, seen, label, sequence, sequence_seen)
        world = self.world_model if settings.alpha else None
        losses = self.vae.learn(batch, world, rng, epochs=self.config.epochs, minibatch=self.config.minibatch)
        return {
            "action_rad": math.sqrt(losses.action / rows.label.shape[-1]),
            "kl": losses.divergence,
            "state": losses.state,
        }

    def measure_world_model(self) -> None:
        """The world model's error over several steps against the engine, on new rollouts of the expert."""
        longest = max(_HORIZONS)
        rows = self.collect(None, replace(self.config.rollouts, steps=longest))
        whole = np.flatnonzero(rows.goes_on.all(axis=0))[:_ERROR_COPIES]
        if not len(whole):
            return
        found = self.world_model.predict(rows.state[0, whole], rows.action[:, whole])
        shape = (len(whole), -1, self.reader.size // len(self.streams.body.links))
        for steps in _HORIZONS:
            apart = (found[steps - 1] - rows.state[steps, whole]).reshape(shape)[:, :, :3]
            self.world_errors[f"after_{steps}_m"] = float(np.linalg.norm(apart, axis=-1).mean())
            still = (rows.state[0, whole] - rows.state[steps, whole]).reshape(shape)[:, :, :3]
            self.world_errors[f"standing_still_{steps}_m"] = float(np.linalg.norm(still, axis=-1).mean())

    def test(self) -> WanderTest:
        """See how long the newest model stays up on noise; the best so far is kept."""
        model, rng = self._newest(), np.random.default_rng([self._seed, 4])
        frames = rng.choice(self.matcher.frames, size=_TEST_COPIES)
        qpos, qvel = (values[frames].astype(float) for values in (self.streams.qpos, self.streams.qvel))
        bodies = WanderingBodies(self.streams.body, self._test_world, qpos, qvel, self.fall_heights)
        found = wander_until_fall(bodies, wander_by(model), TEST_S, rng)
        test = WanderTest(self.samples, found.mean_up_s, int(found.fell.sum()))
        if self.best is None or test.merit >= max(one.merit for one in self.tests):
            self.best = model
        self.tests.append(test)
        return test

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how training goes on, as plain arrays."""
        about: dict[str, Any] = {
            "version": _VERSION,
            "samples": self.samples,
            "updates": self._updates,
            "tests": [vars(test) for test in self.tests],
            "world_errors": self.world_errors,
            "curve": self.curve,
        }
        states = [one.state() for one in self.bodies]
        arrays = {f"bodies.{n}.{name}": array for n, state in enumerate(states) for name, array in state.items()}
        arrays |= {f"vae.{name}": array for name, array in self.vae.state().items()}
        arrays |= {f"world.{name}": array for name, array in self.world_model.state().items()}
        if self.best is not None:
            for name in ("prior", "decoder"):
                own, about[name] = getattr(self.best, name).to_arrays()
                arrays |= {f"{name}.{part}": array for part, array in own.items()}
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``."""
        try:
            about = json.loads(np.asarray(arrays["about"], dtype=np.uint8).tobytes().decode())
            if about["version"] != _VERSION:
                raise ValueError(f"it is of version {about['version']}")
            for number, one in enumerate(self.bodies):
                one.restore(arrays_under(f"bodies.{number}.", arrays))
            self.vae.restore(arrays_under("vae.", arrays))
            self.world_model.restore(arrays_under("world.", arrays))
            self.samples, self._updates = int(about["samples"]), int(about["updates"])
            self.tests = [WanderTest(**test) for test in about["tests"]]
            self.world_errors, self.curve = dict(about["world_errors"]), list(about["curve"])
            if "prior" in about:
                read = (
                    Policy.from_arrays(arrays_under(f"{name}.", arrays), about[name]) for name in ("prior", "decoder")
                )
                self.best = LatentModel(*read)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error


def cut_sequences(rows: ExpertRows, steps: int) -> tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]:
    """(H + 1, C, S) states and (H, C, E) of those copies that the expert moved without a break; None for none."""
    states, seen = [], []
    for first in range(0, len(rows.goes_on) - steps + 1, steps):
        part = slice(first, first + steps)
        whole = np.flatnonzero(rows.goes_on[part, : rows.experts].all(axis=0))
        states.append(rows.state[first : first + steps + 1, whole])
        seen.append(rows.seen[part, whole])
    if not states or not sum(one.shape[1] for one in states):
        return None, None
    return np.concatenate(states, axis=1), np.concatenate(seen, axis=1)


def _flat(rows: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]))


def _record(update: int, samples: int, terms: Mapping[str, float], rows: ExpertRows) -> UpdateRecord:
    """What the loop of training tells; there are no episodes that earn anything."""
    ended = int((~rows.goes_on).sum())
    nan = math.nan
    length = rows.samples / max(ended, 1) if ended else nan
    return UpdateRecord(
        update, samples, ended, length, nan, terms, {"lost": ended}, nan, nan, nan, terms.get("kl", nan), nan, nan, nan
    )
