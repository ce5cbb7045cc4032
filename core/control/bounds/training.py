# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a policy within bounds until it survives as long as required; it can be stopped and resumed anywhere."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile
from ...geometry.quaternions import Array
from ...learn.hyperparameters import PPOHyperparameters
from ...learn.kept_best import keep_best, read_best
from ...learn.learning_curve import UpdateRecord
from ...learn.policy import Policy
from ...learn.shards import ShardSpreader, make_local_environments
from ...learn.trainer import Trainer
from ...sim.engine import Engine
from ...sim.stage import Character, Stage
from .demonstration import Breathe
from .endurance import Endurance, measure_policy_endurance
from .environment import OVER, TIME, BoundsEnvironment, EpisodeConfig
from .reference_trajectory import CONTROL_FPS, ReferenceTrajectory
from .rewards import RewardTerm
from .warm_start import collect_cloning_data

_TEST_COPIES = 32
# A test costs as much as some ten thousand samples: only when copies survive this long with noise, and seldom.
_PROMISING_S, _TEST_INTERVAL = 3.0, 50_000
_CLONING_EPOCHS = 20
_TEST_STOP_SHARE = 0.3  # a test is over when this share of the copies has left the bounds

RewardTermFactory = Callable[[], Sequence[RewardTerm]]
"""Makes the reward terms of one environment: terms keep a history, so that each environment needs its own."""


PPO = PPOHyperparameters(
    horizon=8,
    epochs=3,
    minibatch=1024,
    discount=0.97,
    target_kl=0.02,
    width=128,
    critic_width=128,
    noise=0.1,
    final_noise=0.05,
    noise_anneal_samples=2_000_000,
    output_scale=0.3,
)
"""As found on the walk, with 512 worlds. Half as many learn it from a quarter fewer samples, but not sooner: small
rollouts update the policy more often, and cost more each. Noise of a tenth of a radian explores without felling a body
that could walk."""


@dataclass(frozen=True)
class BoundsTrainingConfig:
    """worlds: copies in all. required_s: seconds that the policy must survive.

    shards: environments that share the copies; whatever the machine, so that a checkpoint fits another one.
    """

    worlds: int = 512
    shards: int = 2
    required_s: float = 20.0
    episodes: EpisodeConfig = field(default_factory=EpisodeConfig)
    ppo: PPOHyperparameters = field(default_factory=lambda: PPO)


@dataclass(frozen=True)
class PolicyTest:
    """A test of the policy after so many samples. share: of the required time survived; whole: whether by all."""

    samples: int
    share: float
    whole: bool


class Training:
    """Environments on a reference within bounds, and the trainer of their policy. Use it in a ``with``.

    environments: those of this process, none where a ``spreader`` has them elsewhere.
    """

    def __init__(
        self,
        reference: ReferenceTrajectory,
        widths: Array,
        engine: Engine,
        config: BoundsTrainingConfig,
        seed: int,
        make_terms: RewardTermFactory = lambda: (),
        spreader: ShardSpreader | None = None,
    ) -> None:
        self.reference, self.widths, self.config = reference, widths, config
        self._engine, self._seed = engine, seed
        self._worlds = ExitStack()
        stage = Stage((Character(reference.body),))
        makers = [
            partial(make_bounds_environment, reference, widths, engine, config, generator, make_terms)
            for generator in np.random.default_rng([seed, 1]).spawn(config.shards)
        ]
        environments = () if spreader else make_local_environments(makers, config.ppo.threads, self._worlds)
        self.environments = environments
        self._test_world = self._worlds.enter_context(
            closing(engine.compile(stage, _TEST_COPIES, threads=config.ppo.threads))
        )
        self.trainer = Trainer(makers if spreader else self.environments, config.ppo, seed, spreader)
        self.tests: list[PolicyTest] = []
        self.best: Policy | None = None

    def __enter__(self) -> "Training":
        return self

    def __exit__(self, *_: object) -> None:
        self._worlds.close()

    pretrained = False
    """Whether it begins with a trained policy."""

    @property
    def samples(self) -> int:
        """Control steps of all copies so far; those of tests are not counted, for they are not learned from."""
        return self.trainer.samples

    @property
    def done_after(self) -> int | None:
        """The samples after which the policy first survived as long as required; None before."""
        return next((test.samples for test in self.tests if test.whole), None)

    @property
    def is_done(self) -> bool:
        """Whether the policy has survived as long as required."""
        return self.done_after is not None

    @property
    def policy(self) -> Policy:
        """The policy that survived longest when tested; the newest before any test."""
        return self.trainer.policy if self.best is None else self.best

    def warm_start(
        self,
        breathe: Breathe = lambda: None,
        begin_part: Callable[[str], None] = lambda _: None,
        on_share: Callable[[float], None] = lambda _: None,
    ) -> tuple[float, float]:
        """Clone a demonstration by sampling control, and begin in its states; what that costs counts as samples.

        breathe, begin_part: as for ``collect_cloning_data``; the cloning is the part 'clone', and on_share is called
        with how much of it is done.
        Gives the policy's error before and after; see ``core.learn.behaviour_cloning.clone_policy``.
        """
        from ...learn.behaviour_cloning import clone_policy

        engine, model = self._engine, self.trainer.model
        discount = self.config.ppo.discount
        data = collect_cloning_data(self.reference, self.widths, engine, discount, self._seed, breathe, begin_part)
        begin_part("clone")
        for shard in self.trainer.shards:
            shard.change("begin_in", data.initial_states)
        self.trainer.reset_episodes(data.samples)
        return clone_policy(
            model,
            data.observations,
            data.actions,
            np.random.default_rng([self._seed, 2]),
            returns=data.returns,
            epochs=_CLONING_EPOCHS,
            minibatch=512,
            on_share=on_share,
        )

    def advance(self) -> UpdateRecord:
        """One update, and a test if it is time for one."""
        record = self.trainer.update()
        last = self.tests[-1].samples if self.tests else 0
        if mean_survival_s(record, self.config) > _PROMISING_S and self.samples - last >= _TEST_INTERVAL:
            self.test()
        return record

    def test(self) -> Endurance:
        """Measure how long the newest policy survives; the best so far is kept."""
        policy = self.trainer.policy
        endurance = measure_policy_endurance(
            self.reference, self.widths, policy, self._test_world, self.config.required_s, _TEST_STOP_SHARE
        )
        if self.best is None or endurance.share >= max(test.share for test in self.tests):
            self.best = policy
        self.tests.append(PolicyTest(self.samples, endurance.share, endurance.whole))
        return endurance

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how training goes on, as plain arrays."""
        return {**self.trainer.state(), **keep_best(self.tests, self.best)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``."""
        kept, best = read_best(arrays)
        try:
            tests = [PolicyTest(int(one["samples"]), float(one["share"]), bool(one["whole"])) for one in kept]
        except (KeyError, TypeError, ValueError) as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
        self.trainer.restore(arrays)
        self.tests, self.best = tests, best


def make_bounds_environment(
    reference: ReferenceTrajectory,
    widths: Array,
    engine: Engine,
    config: BoundsTrainingConfig,
    rng: np.random.Generator,
    make_terms: RewardTermFactory,
    threads: int,
) -> BoundsEnvironment:
    """One of the environments of a training, with a world of its own."""
    world = engine.compile(Stage((Character(reference.body),)), config.worlds // config.shards, threads=threads)
    return BoundsEnvironment(reference, widths, world, rng, config=config.episodes, terms=tuple(make_terms()))


def mean_survival_s(record: UpdateRecord, config: BoundsTrainingConfig) -> float:
    """Mean seconds that copies survive with noise: the time of all copies over how many left the bounds in an update.

    A copy that came to the end of a clip did not leave them: a clip of one second may be survived for ten.
    """
    left = sum(count for reason, count in record.endings.items() if reason not in (OVER, TIME))
    return config.worlds * config.ppo.horizon / max(left, 1) / CONTROL_FPS
