# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning a skill within bounds, from the first stumble until it lasts; it can be stopped and go on anywhere."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import BadFile
from ...geometry.quaternions import Array
from ...learn.hyperparameters import PPOHyperparameters
from ...learn.learning_curve import UpdateRecord
from ...learn.policy import Policy
from ...learn.trainer import Trainer
from ...sim.engine import Engine
from ...sim.stage import Character, Stage
from .course import CONTROL_FPS, Course
from .demonstration import Breathe
from .environment import OVER, TIME, BoundsEnvironment, EpisodeRules
from .playing import Endurance, endured
from .rewards import Term
from .warming import lessons

_PARTS = 2  # environments side by side, whatever the machine, so that a checkpoint fits another one
_TEST_COPIES = 32
# A test costs as much as learning from some ten thousand samples: only when they live this long with noise, and seldom.
_PROMISING_S, _EVERY = 3.0, 50_000
_CLONED = 20  # times that a demonstration is gone through
_ENOUGH = 0.3  # a test is over when so many copies have left the bounds

Terms = Callable[[], Sequence[Term]]
"""Makes what survival is multiplied by, anew for every environment: terms remember what they saw."""


LEARN = PPOHyperparameters(
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
rollouts move the policy more often, and cost more each. A correction of a tenth of a radian is felt, and does not yet
fell anybody."""


@dataclass(frozen=True)
class Study:
    """How a skill is learned. worlds: copies in all, an even number. seconds: how long the learned skill must last."""

    worlds: int = 512
    seconds: float = 20.0
    rules: EpisodeRules = field(default_factory=EpisodeRules)
    learn: PPOHyperparameters = field(default_factory=lambda: LEARN)


@dataclass(frozen=True)
class Test:
    """How long the policy lasted by itself after so many samples: the share of what was asked, and whether all did."""

    samples: int
    share: float
    whole: bool


class Training:
    """A course, its bounds, and what has been learned of them so far. Use it in a ``with``: it holds worlds."""

    def __init__(
        self, course: Course, widths: Array, engine: Engine, study: Study, seed: int, terms: Terms = lambda: ()
    ) -> None:
        self.course, self.widths, self.study = course, widths, study
        self._engine, self._seed = engine, seed
        self._opened = ExitStack()
        stage, environments = Stage((Character(course.body),)), []
        for generator in np.random.default_rng([seed, 1]).spawn(_PARTS):
            copies, threads = study.worlds // _PARTS, max(1, _cores() // _PARTS)
            world = self._opened.enter_context(closing(engine.compile(stage, copies, threads=threads)))
            environments.append(
                BoundsEnvironment(course, widths, world, generator, rules=study.rules, terms=tuple(terms()))
            )
        self.environments = tuple(environments)
        self._testing = self._opened.enter_context(closing(engine.compile(stage, _TEST_COPIES)))
        self.trainer = Trainer(self.environments, study.learn, seed)
        self.tests: list[Test] = []
        self.best: Policy | None = None

    def __enter__(self) -> "Training":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    begun = False
    """Whether it begins with a policy that knows something."""

    @property
    def samples(self) -> int:
        """Control steps of all copies so far; those of tests are not counted, for nothing is learned from them."""
        return self.trainer.samples

    @property
    def done_after(self) -> int | None:
        """The samples after which the skill first lasted as long as it must; None before."""
        return next((test.samples for test in self.tests if test.whole), None)

    @property
    def enough(self) -> bool:
        """Whether there is nothing left to be learned."""
        return self.done_after is not None

    @property
    def policy(self) -> Policy:
        """The one that lasted longest when it was tested; the newest before any was."""
        return self.trainer.policy if self.best is None else self.best

    def warm_up(self, breathe: Breathe = lambda: None) -> tuple[float, float]:
        """Begin with what sampling control knows; what that costs counts as samples.

        Gives what the policy does wrong of what it was shown, before and after; see ``core.learn.cloning.clone``.
        """
        from ...learn.behaviour_cloning import clone_policy

        engine, model = self._engine, self.trainer.model
        shown = lessons(self.course, self.widths, engine, self.study.learn.discount, self._seed, breathe)
        for environment in self.environments:
            environment.starts.fill(shown.good)
        self.trainer.reset_episodes(shown.samples)
        return clone_policy(
            model,
            shown.observed,
            shown.actions,
            np.random.default_rng([self._seed, 2]),
            returns=shown.returns,
            epochs=_CLONED,
            minibatch=512,
        )

    def advance(self) -> UpdateRecord:
        """One update, and a test if it is time for one."""
        record = self.trainer.update()
        last = self.tests[-1].samples if self.tests else 0
        if lives_s(record, self.study) > _PROMISING_S and self.samples - last >= _EVERY:
            self.test()
        return record

    def test(self) -> Endurance:
        """Let the newest policy show how long it lasts; the best so far is kept."""
        policy = self.trainer.policy
        found = endured(self.course, self.widths, policy, self._testing, self.study.seconds, _ENOUGH)
        if self.best is None or found.share >= max(test.share for test in self.tests):
            self.best = policy
        self.tests.append(Test(self.samples, found.share, found.whole))
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how it goes on, as plain arrays."""
        arrays = dict(self.trainer.state())
        about: dict[str, Any] = {"tests": [vars(test) for test in self.tests], "best": None}
        if self.best is not None:
            own, about["best"] = self.best.to_arrays()
            arrays |= {f"best.{name}": array for name, array in own.items()}
        arrays["tests"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``."""
        try:
            about = json.loads(np.asarray(arrays["tests"], dtype=np.uint8).tobytes().decode())
            tests = [Test(int(one["samples"]), float(one["share"]), bool(one["whole"])) for one in about["tests"]]
            best = None
            if about["best"] is not None:
                own = {name.removeprefix("best."): array for name, array in arrays.items() if name.startswith("best.")}
                best = Policy.from_arrays(own, about["best"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
        self.trainer.restore(arrays)
        self.tests, self.best = tests, best


def lives_s(record: UpdateRecord, study: Study) -> float:
    """Seconds that copies last with noise, as told by how many left the bounds in an update.

    Who came to the end of a clip did not leave them: a clip of one second may be kept up for ten, over and over.
    """
    left = sum(count for reason, count in record.endings.items() if reason not in (OVER, TIME))
    return study.worlds * study.learn.horizon / max(left, 1) / CONTROL_FPS


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
