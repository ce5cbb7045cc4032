# SPDX-License-Identifier: GPL-3.0-or-later
"""A policy can begin with what somebody else did."""

import numpy as np
import pytest

from sinew.core.errors import LearningFailed
from sinew.core.learn.behaviour_cloning import clone_policy
from sinew.core.learn.hyperparameters import PPOHyperparameters
from sinew.core.learn.trainer import Trainer

from .toy_environments import Balance, played

SETTINGS = PPOHyperparameters(
    width=32, critic_width=32, horizon=16, minibatch=512, discount=0.95, threads=2, device="cpu"
)


def examples(count):
    """What the best policy does where it comes along, and what it earns from there on."""
    gain = Balance(1, 0).best_gain(0.95)
    environment = Balance(count, seed=3)
    seen = environment.reset()
    actions, returns = seen @ gain[:, None], np.zeros(count)
    first = actions
    now = seen
    for step in range(59):
        done = environment.step(now @ gain[:, None])
        returns += 0.95**step * done.rewards
        now = done.observations
    return seen, first, returns


def test_a_cloned_policy_balances_at_once_and_goes_on_learning():
    trainer = Trainer([Balance(64, seed=1)], SETTINGS, seed=0)
    seen, actions, returns = examples(2000)
    before, after = clone_policy(trainer.model, seen, actions, np.random.default_rng(0), returns=returns, epochs=30)
    assert before > 0.5 and after < 0.005
    # What it expects of where it starts, against what was earned from there.
    expected = trainer.model.predict_values(trainer.model.normaliser(seen))
    assert np.corrcoef(expected, returns)[0, 1] > 0.9
    _, why = played(Balance(200, seed=8), trainer.policy, 120)
    assert why[0] == 0
    trainer.run(20_000)
    assert all(record.endings["fell"] == 0 for record in trainer.curve)


def test_too_few_examples_are_refused():
    trainer = Trainer([Balance(4, seed=1)], SETTINGS, seed=0)
    with pytest.raises(LearningFailed, match="at least 20"):
        clone_policy(trainer.model, np.zeros((3, 2)), np.zeros((3, 1)), np.random.default_rng(0))
    with pytest.raises(LearningFailed, match="30 observations and 31 actions"):
        clone_policy(trainer.model, np.zeros((30, 2)), np.zeros((31, 1)), np.random.default_rng(0))
