# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a style: from the policy of a neutral controller, until its style reward improves no more."""

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
from ....learn.shards import ShardSpreader
from ....sim.engine import Engine
from ..controller import Controller, body_fingerprint
from ..endurance import Endurance
from ..reference_trajectory import ReferenceTrajectory
from ..training import BoundsTrainingConfig, RewardTermFactory, Training
from .energy_and_volume import NAME

_CRITIC_UPDATES = 12  # first updates, of the value network alone: an untrained one would lead the policy astray
_TEST_INTERVAL = 50_000  # samples, where training began with a policy
_NOISE = 0.06  # radians: the skill need not be explored, and with less noise a style looks as it will without
_PATIENCE = 400_000  # samples without a better style after which training stops
_BETTER = 1.01  # factor of the style reward that counts as better


class StyledTraining(Training):
    """A training that may begin with a policy, and keeps the one with the highest style reward that survives."""

    def __init__(
        self,
        reference: ReferenceTrajectory,
        widths: Array,
        engine: Engine,
        config: BoundsTrainingConfig,
        seed: int,
        make_terms: RewardTermFactory,
        initial_policy: Policy | None,
        spreader: ShardSpreader | None = None,
    ) -> None:
        if initial_policy is not None:
            config = replace(config, ppo=replace(config.ppo, noise=min(_NOISE, config.ppo.noise)))
        super().__init__(reference, widths, engine, config, seed, make_terms, spreader)
        self.style_rewards: list[float] = []
        self.pretrained = initial_policy is not None
        if initial_policy is not None:
            self.trainer.model.load_policy(initial_policy)

    @property
    def is_done(self) -> bool:
        """Whether the policy has survived for long without a better style reward.

        One that does not survive may still learn to; and one that has just learned it has not explored a style yet.
        """
        best, since = 0.0, self.samples
        for reward, test in zip(self.style_rewards, self.tests, strict=True):
            if not test.whole:
                since = self.samples
            elif reward > _BETTER * best or since == self.samples:
                best, since = max(best, reward), test.samples
        return self.samples - since >= _PATIENCE

    def advance(self) -> UpdateRecord:
        """One update; in the first ones of a pretrained policy only the value network learns."""
        model, critic_only = self.trainer.model, self.pretrained and len(self.trainer.curve) < _CRITIC_UPDATES
        if critic_only:
            model.learning_rate = 0.0
        record = super().advance()
        if critic_only and len(self.trainer.curve) == _CRITIC_UPDATES:
            model.learning_rate = model.settings.actor_learning_rate
            model.actor.reset_optimiser()
        last = self.tests[-1].samples if self.tests else 0
        if self.pretrained and not critic_only and self.samples - last >= _TEST_INTERVAL:
            # Styles often survive without noise and not with it, by which other trainings decide whether to test.
            self.test()
        return record

    def test(self) -> Endurance:
        """Measure how long the newest policy survives; of those that survive the one with the best style is kept."""
        best, ranks = self.best, [self._rank(at) for at in range(len(self.tests))]
        endurance = super().test()
        curve = self.trainer.curve
        self.style_rewards.append(float(curve[-1].terms.get(NAME, 0.0)) if curve else 0.0)
        newest = self._rank(len(self.tests) - 1)
        self.best = self.trainer.policy if best is None or newest >= max(ranks) else best
        return endurance

    def _rank(self, at: int) -> tuple[float, float]:
        test = self.tests[at]
        return (1.0, self.style_rewards[at]) if test.whole else (0.0, test.share)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that decides how training goes on, as plain arrays."""
        return {**super().state(), "worths": np.frombuffer(json.dumps(self.style_rewards).encode(), dtype=np.uint8)}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what ``state`` gave; arrays that do not fit are a ``BadFile``."""
        try:
            style_rewards = [
                float(one) for one in json.loads(np.asarray(arrays["worths"], np.uint8).tobytes().decode())
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise BadFile(f"The checkpoint does not fit this training: {error}", "Begin anew") from error
        super().restore(arrays)
        self.style_rewards = style_rewards


def require_same_reference(neutral: Controller, reference: ReferenceTrajectory) -> None:
    """Refuse a controller that was trained on another body or reference."""
    own, its = body_fingerprint(reference.body), body_fingerprint(neutral.body)
    what = "body" if own != its else "motion" if reference.fingerprint() != neutral.reference.fingerprint() else ""
    if what:
        raise BoundsError(
            f"The controller to begin with was learned for another {what}",
            "Begin with one that was trained on this Action and with this body, or without any",
        )
