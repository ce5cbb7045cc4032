# SPDX-License-Identifier: GPL-3.0-or-later
"""The teacher: what it may do is what tables do not rule out, and it earns more the longer it learns."""

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core.control.respond.goals import find_goal
from sinew.core.control.respond.responding import Responding
from sinew.core.control.respond.teacher.frame_environment import REWARD_SCALE, FrameEnvironment

NAMES = ("kick", "walk")


@pytest.fixture(scope="module")
def responding():
    """A small library, made ready."""
    stored = make_deeds()
    return Responding(stored.body, stored.library)


def rewards_of(environment, tasks, actions):
    """(N,) m² that episodes cost whose actions are drawn by ``actions``, and the angles that were left."""
    environment.begin_at(*tasks)
    cost, running = np.zeros(environment.worlds), np.ones(environment.worlds, dtype=bool)
    while running.any():
        result = environment.step(actions())
        cost[running] -= result.rewards[running] / REWARD_SCALE
        running &= ~result.terminated
    return cost


def test_whatever_it_does_it_comes_to_the_goal_in_time_and_pruning_spares_it_detours(responding):
    costs = []
    for prune in (True, False):
        rng, environment = np.random.default_rng(0), FrameEnvironment(responding, NAMES, 200, 1, prune=prune)
        tasks = environment.draw(200)
        costs.append(rewards_of(environment, tasks, lambda rng=rng: rng.normal(0.0, 3.0, (200, 27))))
    frame, goal, left, _ = tasks
    tables = [responding.table(find_goal(responding.library, name)) for name in NAMES]
    least = np.array([tables[g].cost[k, f] for g, k, f in zip(goal, left, frame, strict=True)], dtype=float)
    # Nothing is cheaper than the tables' own path; what they rule out is the dearer part.
    assert all((own >= least - 0.02).all() and np.isfinite(own).all() for own in costs)
    assert costs[0].mean() < costs[1].mean()


def test_what_is_resumed_goes_on_as_it_would_have(responding):
    one, other = (FrameEnvironment(responding, NAMES, 8, 3) for _ in range(2))
    one.reset()
    other.reset()
    actions = np.random.default_rng(5).normal(size=(6, 8, 27))
    for action in actions[:3]:
        one.step(action)
    other.restore(one.state())
    for action in actions[3:]:
        a, b = one.step(action), other.step(action)
        assert np.array_equal(a.observations, b.observations) and np.array_equal(a.rewards, b.rewards)


def test_a_teacher_learns_and_is_compared_with_the_exact_answer(responding):
    pytest.importorskip("torch")
    from sinew.core.control.respond.teacher.teaching import compare_teacher, describe_teacher, train_teacher

    early, late = (train_teacher(responding, NAMES, samples, 2) for samples in (4_000, 50_000))
    costs = [compare_teacher(responding, NAMES, one.policy, 100, 7) for one in (early, late)]
    assert costs[1]["teacher"] < costs[0]["teacher"] and costs[0]["exact"] == costs[1]["exact"]
    assert costs[1]["exact"] <= costs[1]["tables"]
    told = describe_teacher(late, costs[1])
    assert told["default"] in ("teacher", "exact") and len(told["curve"]) > 10
