# SPDX-License-Identifier: GPL-3.0-or-later
"""Beginning with what sampling control knows."""

import numpy as np
import pytest

from sinew.core.control.bounds import demonstration, warming
from sinew.core.control.bounds.bounds import bounds_of_preset, widths_on
from sinew.core.control.bounds.course import make_course
from sinew.core.control.bounds.demonstration import STEPS, demonstrated
from sinew.core.control.bounds.environment import mirrored_actions
from sinew.core.control.bounds.training import Study, Training
from sinew.core.control.sampling.plan import SearchEffort
from sinew.core.learn.hyperparameters import PPOHyperparameters
from sinew.core.motion.io import stock
from sinew.core.sim import engines

LITTLE = SearchEffort(40, (0.1,))


@pytest.fixture(autouse=True, scope="module")
def little():
    """Lessons from few copies, of a cycle that is done twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demonstration, "_CYCLED_S", 2.0)
        patch.setattr(demonstration, "_UNSEEN_S", 0.6)
        patch.setattr(warming, "_COPIES", 32)
        patch.setattr(warming, "_ROUNDS", 1)
        patch.setattr(
            warming,
            "demonstrated",
            lambda course, engine, seed, breathe: demonstrated(course, engine, seed, effort=LITTLE),
        )
        yield


def test_a_cycle_is_shown_from_wherever_it_has_come_to(walk):
    shown = demonstrated(walk, engines.get_engine("mujoco"), 0, effort=LITTLE)
    at = STEPS * np.arange(len(shown.offsets))
    np.testing.assert_array_equal(shown.frames.at, at % walk.steps)
    assert shown.usable < len(at)
    strides = at // walk.steps
    np.testing.assert_allclose(shown.frames.place, strides[:, None] * walk.shift, atol=1e-9)
    # On its way the body is where the course is, all the way along.
    wanted = walk.qpos[shown.frames.at, :2] + shown.frames.place
    assert np.linalg.norm(shown.qpos[:, :2] - wanted, axis=1).max() < 0.3
    assert np.ptp(shown.qpos[:, 0]) + np.ptp(shown.qpos[:, 1]) > 1.5
    assert shown.samples > 10_000


def test_what_is_shown_holds_copies_longer_than_the_source_does(body, walk):
    widths = widths_on(bounds_of_preset(body, "loose"), walk, stock.load_stock("walk"))
    found = warming.lessons(walk, widths, engines.get_engine("mujoco"), 0.9, 0, lambda: None)
    again = warming.lessons(walk, widths, engines.get_engine("mujoco"), 0.9, 0, lambda: None)
    np.testing.assert_array_equal(found.actions, again.actions)
    np.testing.assert_array_equal(found.good.qpos, again.good.qpos)
    assert len(found.observed) == len(found.actions) == len(found.returns)
    assert 0.0 <= found.returns.min() <= found.returns.max() <= 10.0 + 1e-5
    assert 0.02 < np.abs(found.actions).mean() < 0.5
    assert len(found.good.at) > 0.5 * len(found.actions)


def test_who_is_lost_earns_nothing_more_and_who_arrives_goes_on():
    tried = np.array([[1, 1, 1], [1, 0, 1], [1, 0, 1]], dtype=bool)
    stayed = np.array([[1, 0, 1], [1, 0, 1], [0, 0, 1]], dtype=bool)
    returns, lived = warming._worths(tried, stayed, 0.5)
    np.testing.assert_allclose(returns[:, 0], [1.5, 1.0, 0.0])
    np.testing.assert_allclose(lived[:, 0], [2.0, 1.0, 0.0])
    assert returns[0, 1] == lived[0, 1] == 0.0
    np.testing.assert_allclose(returns[:, 2], 2.0)


def test_mirrored_twice_is_what_it_was(body):
    even_walk = make_course(body, stock.load_stock("walk"), even=True)
    at, rng = np.arange(even_walk.steps), np.random.default_rng(0)
    actions = rng.normal(size=(len(at), body.nu))
    once = mirrored_actions(even_walk, at, actions)
    assert not np.allclose(once, actions)
    np.testing.assert_allclose(mirrored_actions(even_walk, at, once), actions, atol=1e-9)


def test_a_training_begins_with_what_was_shown_and_counts_it(body, walk):
    widths = widths_on(bounds_of_preset(body, "loose"), walk, stock.load_stock("walk"))
    learn = PPOHyperparameters(horizon=8, epochs=2, minibatch=64, width=64, critic_width=64, noise=0.05, discount=0.9)
    study = Study(worlds=16, seconds=2.0, learn=learn)
    with Training(walk, widths, engines.get_engine("mujoco"), study, 0) as training:
        apart = [one.starts.state()["elite_qpos"].copy() for one in training.environments]
        wrong, less_wrong = training.warm_up()
        assert less_wrong < 0.8 * wrong
        assert training.samples > 10_000
        for one, old in zip(training.environments, apart, strict=True):
            assert np.abs(one.starts.state()["elite_qpos"] - old).max() > 1e-3
        spent = training.samples
        training.advance()
        assert training.samples == spent + study.worlds * learn.horizon
