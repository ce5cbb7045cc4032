# SPDX-License-Identifier: GPL-3.0-or-later
"""Returns and advantages agree with what their definitions say, written out world by world."""

import numpy as np
import pytest

from sinew.core.learn.advantages import lambda_returns, next_values

STEPS, WORLDS, DISCOUNT = 12, 7, 0.93


@pytest.fixture
def rollout():
    rng = np.random.default_rng(5)
    rewards = rng.normal(size=(STEPS, WORLDS)).astype(np.float32)
    values = rng.normal(size=(STEPS + 1, WORLDS)).astype(np.float32)
    terminated, truncated = rng.random((2, STEPS, WORLDS)) < 0.2
    cut = np.nonzero(truncated & ~terminated)
    return rewards, values, terminated, truncated, rng.normal(size=len(cut[0])).astype(np.float32)


def slow_advantage(rollout, step, world, trust):
    """Schulman et al. 2016, equation 16: discounted surprises until the episode ends."""
    rewards, values, terminated, truncated, final_values = rollout
    places = map(tuple, np.argwhere(truncated & ~terminated).tolist())
    cut = dict(zip(places, final_values, strict=True))
    total, weight = 0.0, 1.0
    for now in range(step, STEPS):
        if terminated[now, world]:
            following = 0.0
        elif truncated[now, world]:
            following = cut[now, world]
        else:
            following = values[now + 1, world]
        total += weight * (rewards[now, world] + DISCOUNT * following - values[now, world])
        weight *= DISCOUNT * trust
        if terminated[now, world] or truncated[now, world]:
            break
    return total


@pytest.mark.parametrize("trust", [0.0, 0.6, 0.95, 1.0])
def test_advantages_are_discounted_sums_of_surprises(rollout, trust):
    rewards, values, terminated, truncated, final_values = rollout
    after = next_values(values, terminated, truncated, final_values)
    returns = lambda_returns(rewards, after, terminated | truncated, DISCOUNT, trust)
    slow = [[slow_advantage(rollout, step, world, trust) for world in range(WORLDS)] for step in range(STEPS)]
    assert np.allclose(returns - values[:-1], slow, atol=1e-5)


def test_what_could_have_gone_on_is_worth_what_was_expected_of_it():
    rewards = np.ones((3, 3), dtype=np.float32)
    values = np.full((4, 3), 5.0, dtype=np.float32)
    terminated, truncated = np.zeros((2, 3, 3), dtype=bool)
    terminated[1, 0] = truncated[1, 1] = True
    terminated[1, 2] = truncated[1, 2] = True  # both: it is over for good
    after = next_values(values, terminated, truncated, np.array([8.0], dtype=np.float32))
    returns = lambda_returns(rewards, after, terminated | truncated, 0.5, 1.0)
    assert returns[1].tolist() == [1.0, 1.0 + 0.5 * 8.0, 1.0]
    assert returns[0].tolist() == [1.5, 1.0 + 0.5 * 5.0, 1.5]
    assert returns[2].tolist() == [1.0 + 0.5 * 5.0] * 3  # another episode, which the one before knows nothing of
