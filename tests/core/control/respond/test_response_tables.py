# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables: what D promises, T does; no other way is cheaper; and neighbours are the nearest there are."""

import numpy as np
import pytest

from deed_clips import make_deeds
from sinew.core.control.respond.direction_tables import build_direction_table, find_steady_frames, plan_turn
from sinew.core.control.respond.goals import find_goal
from sinew.core.control.respond.responding import Responding, find_earliest
from sinew.core.control.respond.response_tables import LEAST_LEAD, STEP, STEPS, TRANSITION_M2, UNASKED_M2
from sinew.core.control.respond.transition_graph import RUN


@pytest.fixture(scope="module")
def responding():
    """A small library, made ready."""
    stored = make_deeds()
    return Responding(stored.body, stored.library)


def test_neighbours_are_nearest_and_in_other_passages(responding):
    planner, starts = responding.planner, responding.library.starts
    features, clip_of = planner.features, responding.library.clip_of_frame()
    for frame in (10, 300, 900, int(starts[-2]) + 40):
        targets = planner.graph.targets[frame]
        far = ((features - features[frame]) ** 2).sum(-1)
        found = targets[targets >= 0]
        np.testing.assert_allclose(planner.graph.costs[frame][targets >= 0], far[found], rtol=1e-3, atol=1e-5)
        assert not ((clip_of[found] == clip_of[frame]) & (np.abs(found - frame) < RUN)).any()
        rest = planner.ends - np.arange(len(far))
        away = (clip_of != clip_of[frame]) | (np.abs(np.arange(len(far)) - frame) > 5 * RUN)
        assert far[found].min() <= far[away & (rest > 20)].min() * 1.2 + 1e-4


def test_the_path_that_is_followed_costs_what_the_table_says_and_ends_on_a_key_moment(responding):
    goal, planner = find_goal(responding.library, "kick"), responding.planner
    table = responding.table(goal)
    for first in range(0, len(planner.ends), 211):
        for steps in (LEAST_LEAD + 1, 9, STEPS):
            if not np.isfinite(table.cost[steps, first]):
                continue
            frame, cost = first, 0.0
            for left in range(steps, 0, -1):
                jump = int(table.jump[left, frame])
                if jump >= 0:
                    assert left > LEAST_LEAD
                    cost += float(((planner.features[jump] - planner.features[frame]) ** 2).sum()) + TRANSITION_M2
                    frame = jump
                cost += UNASKED_M2 if planner.to_key[frame] < STEP else 0.0
                frame += STEP
            assert frame in goal.frames
            assert cost == pytest.approx(float(table.cost[steps, first]), rel=0.01, abs=2e-3)


def test_no_single_change_is_cheaper(responding):
    """Bellman's equation holds (10): no neighbour is a better first step."""
    planner, table = responding.planner, responding.table(find_goal(responding.library, "kick"))
    for frame in range(5, len(planner.ends), 173):
        for steps in (6, 15):
            best = float(table.cost[steps, frame])
            for target, cost in zip(planner.graph.targets[frame], planner.graph.costs[frame], strict=True):
                if target < 0 or cost > planner.most_m2 or target + STEP > planner.ends[target]:
                    continue
                unasked = UNASKED_M2 if planner.to_key[target] < STEP else 0.0
                after = float(table.cost[steps - 1, target + STEP])
                assert best <= cost + TRANSITION_M2 + unasked + after + 2e-3


def test_a_kick_needs_its_time(responding):
    table = responding.table(find_goal(responding.library, "kick"))
    soonest = [find_earliest(table, responding.planner.ends, frame) for frame in range(0, 200, 20)]
    assert all(count is not None and count > LEAST_LEAD * STEP for count in soonest)
    assert find_earliest(table, responding.planner.ends, 10, 100) == 100


def test_turns_come_to_the_asked_heading(responding):
    planner, library = responding.planner, responding.library
    goals = find_steady_frames(planner, library.find_frames("walk"))
    table = build_direction_table(planner, goals, 9)
    assert table.cost.shape == (10, len(planner.ends), 36)
    roots = planner.roots
    for turn in (-0.6, 0.0, 0.5):
        plan = plan_turn(planner, table, 40, turn, 70)
        assert plan is not None and len(plan.frames) == 70 and plan.frames[-1] in goals
        before = np.concatenate([[40], plan.frames[:-1]])
        done = float((roots.heading[plan.frames] - roots.heading[plan.frames - 1]).sum())
        jumps = before != plan.frames - 1
        done += float(roots.drift(before[jumps], plan.frames[jumps] - 1)[1].sum())
        assert done == pytest.approx(turn, abs=np.radians(20.0))
