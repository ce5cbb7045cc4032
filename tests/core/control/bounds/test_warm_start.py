# SPDX-License-Identifier: GPL-3.0-or-later
"""Beginning with what sampling control knows."""

import numpy as np
import pytest

from sinew.core.control.bounds import demonstration, warm_start
from sinew.core.control.bounds.bounds import bounds_of_preset, sample_widths
from sinew.core.control.bounds.demonstration import STEPS, demonstrate_reference
from sinew.core.control.bounds.environment import mirror_actions
from sinew.core.control.bounds.reference_trajectory import make_reference_trajectory
from sinew.core.control.bounds.training import BoundsTrainingConfig, Training
from sinew.core.control.bounds.training_progress import TrainingProgress
from sinew.core.control.sampling.tracker import SearchEffort
from sinew.core.learn.hyperparameters import PPOHyperparameters
from sinew.core.motion.io import stock
from sinew.core.sim import engines

LITTLE = SearchEffort(40, (0.1,))


@pytest.fixture(autouse=True, scope="module")
def little():
    """Cloning data of few copies, of a cycle that is done twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demonstration, "_CYCLED_S", 2.0)
        patch.setattr(demonstration, "_UNSEEN_S", 0.6)
        patch.setattr(warm_start, "_COPIES", 32)
        patch.setattr(warm_start, "ROUNDS", 1)
        patch.setattr(
            warm_start,
            "demonstrate_reference",
            lambda reference, engine, seed, breathe: demonstrate_reference(reference, engine, seed, breathe, LITTLE),
        )
        yield


def test_a_cycle_is_shown_from_wherever_it_has_come_to(walk):
    shown = demonstrate_reference(walk, engines.get_engine("mujoco"), 0, effort=LITTLE)
    at = STEPS * np.arange(len(shown.offsets))
    np.testing.assert_array_equal(shown.placement.at, at % walk.steps)
    assert shown.usable < len(at)
    strides = at // walk.steps
    np.testing.assert_allclose(shown.placement.place, strides[:, None] * walk.cycle_shift, atol=1e-9)
    # The demonstration is where the reference is, all the way along.
    wanted = walk.qpos[shown.placement.at, :2] + shown.placement.place
    assert np.linalg.norm(shown.qpos[:, :2] - wanted, axis=1).max() < 0.3
    assert np.ptp(shown.qpos[:, 0]) + np.ptp(shown.qpos[:, 1]) > 1.5
    assert shown.samples > 10_000


def test_what_is_shown_holds_copies_longer_than_the_source_does(body, walk):
    widths = sample_widths(bounds_of_preset(body, "loose"), walk, stock.load_stock("walk"))
    found = warm_start.collect_cloning_data(walk, widths, engines.get_engine("mujoco"), 0.9, 0, lambda: None)
    again = warm_start.collect_cloning_data(walk, widths, engines.get_engine("mujoco"), 0.9, 0, lambda: None)
    np.testing.assert_array_equal(found.actions, again.actions)
    np.testing.assert_array_equal(found.initial_states.qpos, again.initial_states.qpos)
    assert len(found.observations) == len(found.actions) == len(found.returns)
    assert 0.0 <= found.returns.min() <= found.returns.max() <= 10.0 + 1e-5
    assert 0.02 < np.abs(found.actions).mean() < 0.5
    assert len(found.initial_states.at) > 0.5 * len(found.actions)


def test_who_is_lost_earns_nothing_more_and_who_arrives_goes_on():
    tried = np.array([[1, 1, 1], [1, 0, 1], [1, 0, 1]], dtype=bool)
    stayed = np.array([[1, 0, 1], [1, 0, 1], [0, 0, 1]], dtype=bool)
    returns, lived = warm_start._compute_returns(tried, stayed, 0.5)
    np.testing.assert_allclose(returns[:, 0], [1.5, 1.0, 0.0])
    np.testing.assert_allclose(lived[:, 0], [2.0, 1.0, 0.0])
    assert returns[0, 1] == lived[0, 1] == 0.0
    np.testing.assert_allclose(returns[:, 2], 2.0)


def test_mirrored_twice_is_what_it_was(body):
    even_walk = make_reference_trajectory(body, stock.load_stock("walk"), symmetric=True)
    at, rng = np.arange(even_walk.steps), np.random.default_rng(0)
    actions = rng.normal(size=(len(at), body.nu))
    once = mirror_actions(even_walk, at, actions)
    assert not np.allclose(once, actions)
    np.testing.assert_allclose(mirror_actions(even_walk, at, once), actions, atol=1e-9)


class Reports:
    """A run that keeps what it is told of progress."""

    def __init__(self):
        self.shares, self.said = [], []

    def progress(self, step, total, /, **measurements):
        self.shares.append(step / total)
        self.said.append(measurements)

    def require_true(self):
        """The warm start moved from its first reports on, a little at a time, with a curve, in plain words."""
        assert self.shares == sorted(self.shares) and self.shares[0] == 0.0
        assert self.shares[len(self.shares) // 10] >= 0.02 and 0.4 < self.shares[-1] <= 0.55
        studied = [one["studied"] for one in self.said]
        assert studied == sorted(studied) and len(set(studied[: len(studied) // 2])) > 5
        words = list(dict.fromkeys(one["doing"] for one in self.said))
        assert words == ["Studying the motion", "Trying it out with small stumbles", "Learning from what worked"]


def test_a_training_begins_with_what_was_shown_and_counts_it(body, walk):
    widths = sample_widths(bounds_of_preset(body, "loose"), walk, stock.load_stock("walk"))
    learn = PPOHyperparameters(horizon=8, epochs=2, minibatch=64, width=64, critic_width=64, noise=0.05, discount=0.9)
    config = BoundsTrainingConfig(worlds=16, required_s=2.0, ppo=learn)
    with Training(walk, widths, engines.get_engine("mujoco"), config, 0) as training:
        apart = [one.initial_states.state()["elite_qpos"].copy() for one in training.environments]
        told = Reports()
        progress = TrainingProgress(told, training, 10**6, stops=True)
        wrong, less_wrong = training.warm_start(progress.breathe, progress.begin_part, progress.clone)
        assert less_wrong < 0.8 * wrong
        told.require_true()
        progress.begin_practice()
        progress.practise(training.trainer.update())
        assert told.said[-1]["doing"].startswith("Practising: stays up ") and "studied" not in told.said[-1]
        assert 0.55 <= told.shares[-1] < 1.0
        assert training.samples > 10_000
        for one, old in zip(training.environments, apart, strict=True):
            assert np.abs(one.initial_states.state()["elite_qpos"] - old).max() > 1e-3
        spent = training.samples
        training.advance()
        assert training.samples == spent + config.worlds * learn.horizon
