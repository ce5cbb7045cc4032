# SPDX-License-Identifier: GPL-3.0-or-later
"""Regression finds the feedback that examples were made with, and how widely they scatter around it."""

import numpy as np
import pytest

from sinew.core.control.graph.model.policies import (
    MAX_ACTION,
    Policies,
    mirror_policies,
    regress_policy,
    stack_policies,
    zero_policies,
)

STATES, ACTIONS = 18, 11
SCALE = np.linspace(0.05, 2.0, STATES)


def examples(count: int, noise: float, seed: int = 0):
    """States and actions of a known policy: gains (A, S), the middle it goes through, and the examples."""
    rng = np.random.default_rng(seed)
    gains = rng.normal(size=(ACTIONS, STATES)) * 0.05 / SCALE
    middle, action = rng.normal(size=STATES), rng.normal(scale=0.1, size=ACTIONS)
    states = middle + rng.normal(size=(count, STATES)) * SCALE
    actions = action + (states - middle) @ gains.T + rng.normal(size=(count, ACTIONS)) * noise
    return gains, middle, action, states, actions


def test_the_policy_that_made_the_examples_is_found():
    gains, middle, action, states, actions = examples(400, 0.0)
    found = regress_policy(states, actions, SCALE)
    assert found.gains[0] * SCALE == pytest.approx(gains * SCALE, abs=5e-4)  # the ridge takes a thousandth
    elsewhere = middle + np.random.default_rng(1).normal(size=(5, STATES)) * SCALE
    wanted = action + (elsewhere - middle) @ gains.T
    assert found.unclipped_actions(np.zeros(5, dtype=int), elsewhere) == pytest.approx(wanted, abs=3e-3)
    assert found.spreads == pytest.approx(np.radians(0.5))  # never less: something must be tried


def test_the_spread_is_what_the_line_does_not_explain():
    noise = np.linspace(0.02, 0.1, ACTIONS)
    *_, states, actions = examples(3000, noise)
    assert regress_policy(states, actions, SCALE).spreads[0] == pytest.approx(noise, rel=0.06)


def test_few_examples_do_not_make_wild_feedback():
    """As many examples as numbers would be explained without rest by any line; the ridge keeps it small."""
    *_, states, actions = examples(STATES, 0.05)
    calm = regress_policy(states, actions, SCALE)
    assert np.isfinite(calm.gains).all() and np.abs(calm.gains * SCALE).max() < 1.0
    same = regress_policy(np.repeat(states[:1], 30, axis=0), np.repeat(actions[:1], 30, axis=0), SCALE)
    assert same.gains == pytest.approx(0.0) and same.actions[0] == pytest.approx(actions[0])


def test_actions_are_held_within_what_is_ever_done():
    policy = Policies(np.full((1, 1, 1), 100.0), np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))
    one, states = np.zeros(3, dtype=int), np.array([[-1.0], [0.001], [1.0]])
    assert policy.unclipped_actions(one, states)[:, 0] == pytest.approx([-100.0, 0.1, 100.0])
    assert policy.mean_actions(one, states)[:, 0] == pytest.approx([-MAX_ACTION, 0.1, MAX_ACTION])


def test_policies_are_put_in_the_places_of_others():
    first = zero_policies(np.zeros((4, STATES)), ACTIONS)
    assert first.mean_actions(np.arange(4), np.ones((4, STATES))) == pytest.approx(0.0)
    found = [regress_policy(*examples(60, 0.1, seed)[3:], SCALE) for seed in (1, 2)]
    both = first.with_fragments(np.array([3, 1]), stack_policies(found))
    assert np.array_equal(both.gains[3], found[0].gains[0]) and np.array_equal(both.actions[1], found[1].actions[0])
    assert np.array_equal(both.gains[[0, 2]], first.gains[[0, 2]]) and not first.gains.any()
    assert (
        first.mean_gain_change(both, SCALE, np.array([0, 2]))
        == 0.0
        < first.mean_gain_change(both, SCALE, np.array([1, 3]))
    )


def test_mirrored_feedback_does_in_the_mirror_what_it_did_before_it():
    rng = np.random.default_rng(6)
    policy = regress_policy(*examples(100, 0.1)[3:], SCALE)
    state, action = (np.eye(size)[rng.permutation(size)] * rng.choice([-1.0, 1.0], size) for size in (STATES, ACTIONS))
    seen, one = rng.normal(size=(6, STATES)), np.zeros(6, dtype=int)
    image = mirror_policies(policy, state, action).unclipped_actions(one, seen @ state.T)
    assert image == pytest.approx(policy.unclipped_actions(one, seen) @ action.T, abs=1e-9)
    assert mirror_policies(policy, state, action).spreads[0] == pytest.approx(np.abs(action) @ policy.spreads[0])
