# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known to be best is found, and what was known to be worth something is foreseen."""

import numpy as np
import pytest

from sinew.core.learn.hyperparameters import PPOHyperparameters
from sinew.core.learn.trainer import Trainer

from .toy_environments import Balance, Bandit, Clockwork, played

SMALL = {"width": 32, "critic_width": 32, "threads": 2, "device": "cpu"}


def test_the_best_action_of_a_bandit_is_found():
    settings = PPOHyperparameters(
        **SMALL, horizon=4, minibatch=256, noise=0.2, final_noise=0.03, noise_anneal_samples=60_000
    )
    trainer = Trainer([Bandit(256, seed=1)], settings, seed=0)
    trainer.run(80_000)
    seen = np.random.default_rng(9).uniform(-1.0, 1.0, (500, 3))
    missed = trainer.policy(seen) - Bandit(1, 0).wanted(seen)
    assert np.sqrt(np.square(missed).mean()) < 0.05
    assert trainer.curve[-1].terms["hit"] > 0.98 > trainer.curve[0].terms["hit"]


@pytest.fixture(scope="module")
def balanced():
    settings = PPOHyperparameters(
        **SMALL, horizon=16, minibatch=512, discount=0.95, noise=0.3, final_noise=0.1, noise_anneal_samples=200_000
    )
    trainer = Trainer([Balance(64, seed=1), Balance(64, seed=2)], settings, seed=0)
    trainer.run(260_000)
    return trainer


def test_a_stick_is_balanced_nearly_as_well_as_can_be(balanced):
    gain = Balance(1, 0).best_gain(0.95)
    best, _ = played(Balance(400, seed=7), lambda seen: seen @ gain[:, None], 120)
    nothing, fell = played(Balance(400, seed=7), lambda seen: np.zeros((400, 1)), 120)
    learned, why = played(Balance(400, seed=7), balanced.policy, 120)
    assert fell[0] > 1000 and why[0] == 0  # left alone it falls within a second; the policy never lets it
    assert best - learned < 0.03 * (best - nothing)


def test_the_curve_tells_how_episodes_went_and_why_they_ended(balanced):
    first, last = balanced.curve[0], balanced.curve[-1]
    assert first.length < 30 and last.length == 60
    assert first.endings["fell"] > 10 * (first.endings["time"] + 1)
    assert last.endings["fell"] == 0 and last.endings["time"] == last.episodes > 0
    assert abs(last.earned / last.length - (last.terms["up"] + last.terms["cost"])) < 0.02
    assert [record.update for record in balanced.curve] == list(range(1, len(balanced.curve) + 1))
    assert last.samples == balanced.samples >= 260_000
    assert abs(last.noise - 0.1) < 1e-3 < first.noise


@pytest.mark.parametrize("rate", [1e-5, 3e-3])
def test_the_learning_rate_keeps_the_policy_near_where_it_was(rate):
    settings = PPOHyperparameters(
        **SMALL, horizon=16, minibatch=256, noise=0.3, target_kl=0.002, actor_learning_rate=rate
    )
    trainer = Trainer([Balance(64, seed=1)], settings, seed=0)
    trainer.run(50_000)
    moves = np.array([record.kl for record in trainer.curve[20:]])
    assert 0.5 < np.median(moves) / settings.target_kl < 2.0


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "over"])
def test_an_episode_that_was_cut_is_worth_what_it_would_have_earned(cut):
    settings = PPOHyperparameters(**SMALL, horizon=6, minibatch=128, discount=0.9)
    trainer = Trainer([Clockwork(64, seed=0, cut=cut)], settings, seed=0)
    trainer.run(60_000)
    clock = np.arange(4.0)[:, None]
    expected = trainer.model.predict_values(trainer.model.normaliser(clock))
    left = np.inf if cut else 4 - np.arange(4)
    assert np.allclose(expected, (1.0 - 0.9**left) / 0.1, atol=0.35)


def test_learned_noise_shrinks_where_precision_pays():
    settings = PPOHyperparameters(**SMALL, horizon=4, minibatch=256, noise=0.4, learn_noise=True)
    trainer = Trainer([Bandit(256, seed=1)], settings, seed=0)
    trainer.run(60_000)
    assert trainer.curve[-1].noise < 0.2


def test_actions_beyond_their_limit_are_held_back():
    settings = PPOHyperparameters(**SMALL, horizon=4, minibatch=256, noise=0.2, action_limit=0.4, action_penalty=20.0)
    trainer = Trainer([Bandit(256, seed=1)], settings, seed=0)
    trainer.run(60_000)
    seen = np.random.default_rng(9).uniform(-1.0, 1.0, (500, 3))
    assert np.abs(Bandit(1, 0).wanted(seen)).max() > 1.0
    assert np.quantile(np.abs(trainer.policy(seen)), 0.98) < 0.6


def test_looking_can_stop_it():
    trainer = Trainer([Bandit(16, seed=1)], PPOHyperparameters(**SMALL, horizon=4, minibatch=64), seed=0)
    trainer.run(10**9, on_update=lambda record: record.update == 3)
    assert len(trainer.curve) == 3


def test_the_policy_without_torch_is_the_one_that_was_learned(balanced):
    seen = np.random.default_rng(3).normal(0.0, 0.5, (40, 2))
    learned = balanced.model.act(balanced.model.normaliser(seen))
    assert np.allclose(balanced.policy(seen), learned, atol=1e-6)


@pytest.mark.parametrize("activation", ["relu", "elu", "tanh"])
def test_every_kind_of_unit_means_the_same_with_and_without_torch(activation):
    settings = PPOHyperparameters(**SMALL, activation=activation, layers=3, output_scale=0.5)
    trainer = Trainer([Bandit(64, seed=1)], settings, seed=4)
    trainer.run(3000)
    seen = np.random.default_rng(3).normal(0.0, 2.0, (40, 3))
    assert np.allclose(trainer.policy(seen), trainer.model.act(trainer.model.normaliser(seen)), atol=1e-6)
    assert np.abs(trainer.policy(seen)).max() > 1e-3
