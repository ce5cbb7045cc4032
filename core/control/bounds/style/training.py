# SPDX-License-Identifier: GPL-3.0-or-later
"""Learning a style: from a policy that has the skill already, until the style gains no more while it lasts."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import BadFile, BoundsError
from ....geometry.quaternions import Array
from ....learn.learning_curve import UpdateRecord
from ....learn.policy import Policy
from ....sim.engine import Engine
from ..controller import Controller, body_fingerprint
from ..course import Course
from ..playing import Endurance
from ..training import Study, Terms, Training
from .terms import NAME

_LISTENS = 12  # updates in which only the value network learns: it knows nothing yet, and would lead the policy astray
_EVERY = 50_000  # samples after which who began with a policy is tested again
_NOISE = 0.06  # radians: who has the skill need not find it, and what shakes less looks like what it will be
_PATIENCE = 400_000  # samples without a better style after which there is none to be had
_BETTER = 1.01  # how much more a style must be worth to count as better


class StyledTraining(Training):
    """A training that begins with a policy, if there is one, and keeps the most styled that lasts."""

    def __init__(
        self, course: Course, widths: Array, engine: Engine, study: Study, seed: int, terms: Terms, begin: Policy | None
    ) -> None:
        if begin is not None:
            learn = study.learn
            study = replace(study, learn=replace(learn, noise=min(_NOISE, learn.noise)))
        super().__init__(course, widths, engine, study, seed, terms)
        self.worths: list[float] = []
        self.begun = begin is not None
        if begin is not None:
            self.trainer.model.load_policy(begin)

    @property
    def enough(self) -> bool:
        """Whether it has lasted for long without becoming better.

        A style that does not last may still; and what has just learned to last has not tried for a style yet.
        """
        best, since = 0.0, self.samples
        for worth, test in zip(self.worths, self.tests, strict=True):
            if not test.whole:
                since = self.samples
            elif worth > _BETTER * best or since == self.samples:
                best, since = max(best, worth), test.samples
        return self.samples - since >= _PATIENCE

    def advance(self) -> UpdateRecord:
        """One update; in the first ones only what is to be expected is learned, not what to do."""
        model, listening = self.trainer.model, self.begun and len(self.trainer.curve) < _LISTENS
        if listening:
            model.learning_rate = 0.0
        record = super().advance()
        if listening and len(self.trainer.curve) == _LISTENS:
            model.learning_rate = model.settings.actor_learning_rate
            model.actor.reset_optimiser()
        last = self.tests[-1].samples if self.tests else 0
        if self.begun and not listening and self.samples - last >= _EVERY:
            # Styles are often sturdy by themselves and not with noise, by which others are judged before a test.
            self.test()
        return record

    def test(self) -> Endurance:
        """Let the newest policy show how long it lasts; of those that last the most styled is kept."""
        best, ranks = self.best, [self._rank(at) for at in range(len(self.tests))]
        found = super().test()
        curve = self.trainer.curve
        self.worths.append(float(curve[-1].terms.get(NAME, 0.0)) if curve else 0.0)
        newest = self._rank(len(self.tests) - 1)
        self.best = self.trainer.policy if best is None or newest >= max(ranks) else best
        return found

    def _rank(self, at: int) -> tuple[float, float]:
        test = self.tests[at]
        return (1.0, self.worths[at]) if test.whole else (0.0, test.share)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how it goes on, as plain arrays."""
        return {**super().state(), "worths": np.frombuffer(json.dumps(self.worths).encode(), dtype=np.uint8)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``."""
        try:
            worths = [float(one) for one in json.loads(np.asarray(arrays["worths"], np.uint8).tobytes().decode())]
        except (KeyError, TypeError, ValueError) as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
        super().restore(arrays)
        self.worths = worths


def require_same_skill(neutral: Controller, course: Course) -> None:
    """Refuse a controller whose policy has learned something else than what is to be styled."""
    own, its = body_fingerprint(course.body), body_fingerprint(neutral.body)
    what = "body" if own != its else "motion" if course.fingerprint() != neutral.course.fingerprint() else ""
    if what:
        raise BoundsError(
            f"The controller to begin with was learned for another {what}",
            "Begin with one that was trained on this Action and with this body, or without any",
        )
