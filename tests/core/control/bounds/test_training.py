# SPDX-License-Identifier: GPL-3.0-or-later
import dataclasses
import json

import numpy as np
import pytest

from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.endurance import measure_policy_endurance
from sinew.core.control.bounds.environment import OVER, TIME, EpisodeConfig
from sinew.core.control.bounds.training import BoundsTrainingConfig, Training, mean_survival_s
from sinew.core.errors import BadFile
from sinew.core.learn.hyperparameters import PPOHyperparameters
from sinew.core.motion.io import stock
from sinew.core.sim import engines

PPO = PPOHyperparameters(horizon=8, epochs=2, minibatch=64, width=16, critic_width=16, noise=0.1, discount=0.95)
CONFIG = BoundsTrainingConfig(worlds=8, required_s=1.0, episodes=EpisodeConfig(adaptation_interval=8), ppo=PPO)


@pytest.fixture
def training_of(body, walk):
    """Trainings of the walk with very little effort, closed afterwards."""
    widths = sample_widths(bounds_of_preset(body, "locomotion"), walk, stock.load_stock("walk"))
    opened = []

    def made(seed=0) -> Training:
        opened.append(Training(walk, widths, engines.get_engine("mujoco"), CONFIG, seed))
        return opened[-1]

    yield made
    for one in opened:
        one.__exit__()


def weights(training):
    return np.concatenate([layer.ravel() for pair in training.trainer.policy.layers for layer in pair])


def test_killed_and_resumed_it_learns_the_same(training_of):
    whole, killed, resumed = training_of(), training_of(), training_of(seed=5)
    for number in range(5):
        whole.advance()
        if number < 3:
            killed.advance()
    killed.test()
    kept = {name: np.array(values) for name, values in killed.state().items()}
    resumed.restore(kept)
    for _ in range(2):
        resumed.advance()
    assert resumed.samples == whole.samples
    np.testing.assert_array_equal(weights(resumed), weights(whole))
    assert resumed.tests == killed.tests
    assert [one.samples for one in resumed.trainer.curve] == [one.samples for one in whole.trainer.curve]
    first, second = (one.environments[1].initial_states.curve for one in (resumed, whole))
    assert first == second


def test_a_checkpoint_that_does_not_fit_is_refused(training_of):
    training = training_of()
    training.advance()
    kept = training.state()
    for broken in ({}, {**kept, "tests": np.frombuffer(json.dumps([]).encode(), dtype=np.uint8)}):
        with pytest.raises(BadFile):
            training_of().restore(broken)


def test_the_best_policy_that_was_tested_is_kept(training_of, walk, world_of):
    training = training_of()
    training.advance()
    found = training.test()
    assert training.tests[-1].share == pytest.approx(found.share)
    assert 0.0 < found.share < 1.0
    assert training.best is not None
    training.tests[-1] = type(training.tests[-1])(training.samples, 2.0, False)  # nothing will ever be as good
    kept = training.best
    training.advance()
    training.test()
    assert training.policy is kept
    again = measure_policy_endurance(walk, training.widths, kept, world_of(8), 1.0)
    assert again.share > 0.0


def test_other_seeds_learn_otherwise(training_of):
    first, second = training_of(seed=0), training_of(seed=1)
    first.advance()
    second.advance()
    assert not np.array_equal(weights(first), weights(second))


def test_whoever_comes_to_the_end_of_the_clip_has_not_left_the_bounds(training_of):
    training = training_of()
    record = training.advance()
    ended = {"com x": 2, OVER: 30, TIME: 5}
    samples = CONFIG.worlds * PPO.horizon
    assert mean_survival_s(dataclasses.replace(record, endings=ended), CONFIG) == pytest.approx(samples / 2 / 30.0)
