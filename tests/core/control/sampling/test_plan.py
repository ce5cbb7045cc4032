# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans: every pass is done, the next knows the trajectory of the last, and feedback looks beyond its section."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.core.control.sampling import plan as plan_module
from sinew.core.control.sampling.cost import compute_cost
from sinew.core.control.sampling.plan import REPEAT, Planner, PlanTask, SearchEffort
from sinew.core.control.tracking.reference import pad_batch
from sinew.core.control.tracking.rollout import roll_out
from sinew.core.control.tracking.tracking_cost import CostWeights
from sinew.core.sim.engine import SensorRows

from .toys import problem_of, tracking_error_of, waving, world_of


@pytest.fixture(scope="module")
def error_and_world():
    world = world_of(20)
    yield tracking_error_of(world, waving(1.0)), world
    world.close()


def planner_of(tracking_error, world, spreads=(0.1, 0.05, 0.03), improves=False):
    """Every pass has its own randomness and spread."""
    return Planner(
        tracking_error,
        lambda number: replace(
            problem_of(world, tracking_error, number, SearchEffort(20, spreads).spread_of(number)), improves=improves
        ),
        SearchEffort(20, spreads),
    )


def whole(tracking_error):
    return PlanTask(
        0,
        tracking_error.reference.fragments,
        tracking_error.reference.states[0],
        np.zeros(2),
        np.zeros(tracking_error.nu),
    )


@pytest.mark.parametrize("improves", [False, True])
def test_passes_follow_each_other_and_each_knows_the_way_before(error_and_world, improves):
    tracking_error, world = error_and_world
    seen = []
    trajectory = planner_of(tracking_error, world, improves=improves).plan(
        whole(tracking_error), lambda number, search: seen.append((number, search))
    )
    assert sorted({number for number, _ in seen}) == [0, 1, 2] and len(trajectory) == 10
    by_pass = dict(seen)
    assert by_pass[0].nominal is None
    for number in (1, 2):
        before, search = by_pass[number - 1].best_trajectory(), by_pass[number]
        np.testing.assert_array_equal(search.nominal.ends, before.ends)
        np.testing.assert_array_equal([layer.states[0] for layer in search.layers], before.ends)
        last = search.layers[-1]
        assert last.total.min() <= last.total[0]  # never worse than the nominal one


def test_a_lost_first_pass_is_made_once_more_and_the_better_one_gone_on_with(error_and_world, monkeypatch):
    monkeypatch.setattr(plan_module, "_TRIES", 2)
    tracking_error, world = error_and_world
    planner, seen = planner_of(tracking_error, world), []
    planner.effort = replace(planner.effort, repeats=True)
    rate = planner.rate_trajectory
    monkeypatch.setattr(planner, "rate_trajectory", lambda trajectory: (True, rate(trajectory)[1]))
    planner.plan(whole(tracking_error), lambda number, search: seen.append((number, search)))
    by_pass = dict(seen)
    assert list(by_pass) == [0, REPEAT, 1, 2] and [by_pass[n].tries for n in by_pass] == [1, 2, 2, 2]
    found = [by_pass[number].best_trajectory() for number in (0, REPEAT)]
    assert not np.array_equal(found[0].ends, found[1].ends)
    np.testing.assert_array_equal(by_pass[1].nominal.ends, min(found, key=rate).ends)
    monkeypatch.setattr(planner, "rate_trajectory", rate)
    seen.clear()
    planner.plan(whole(tracking_error), lambda number, search: seen.append((number, search)))
    assert list(dict(seen)) == [0, 1, 2]


def test_a_trajectory_is_rated_by_what_lies_on_it_and_lost_where_it_is_elsewhere(error_and_world):
    tracking_error, world = error_and_world
    planner = planner_of(tracking_error, world)
    reference = tracking_error.reference
    found = planner.plan(whole(tracking_error), lambda *_: None)
    lost, cost = planner.rate_trajectory(found)
    spent = []
    for at in range(10):
        starts, before = (np.tile(part[at], (20, 1)) for part in (found.starts, found.offsets_before(np.zeros(4))))
        targets = reference.servo_targets(np.full(20, at), before, np.tile(found.offsets[at], (20, 1)))
        states, rows = roll_out(world, starts, targets)
        frame, poses = int(reference.frames_of(at)[-1]), world.pose_of(states[:1, -1])[0]
        seen = SensorRows(**{name: values[:1] for name, values in vars(rows).items()})
        offsets, anchors = found.offsets[[at]], found.anchors[[at]]
        spent.append(compute_cost(reference, frame, poses, seen, offsets, anchors, CostWeights()).total[0])
    assert not lost and cost == pytest.approx(np.mean(spent), rel=1e-6)
    ends = np.array(found.ends)
    qpos, qvel = (np.array(part) for part in world.pose_of(ends[5:7]))
    qpos[:, 0] += 10.0
    ends[5:7] = world.state_of(*(pad_batch(part, 20) for part in (qpos, qvel)))[:2]
    assert planner.rate_trajectory(replace(found, ends=ends))[0]
    ends[6] = found.ends[6]
    assert not planner.rate_trajectory(replace(found, ends=ends))[0]  # no more than a stumble


def test_after_a_disturbance_one_pass_leads_back_to_what_was_planned(error_and_world, monkeypatch):
    tracking_error, world = error_and_world
    planner, seen = planner_of(tracking_error, world, improves=True), []
    planner.effort = replace(planner.effort, improves=True)
    task = whole(tracking_error)
    planned = planner.plan(task, lambda *_: None)
    qpos, qvel = (np.array(part)[None] for part in world.pose_of(planned.starts[4]))
    qvel[:, -1] += 1.0
    moved = world.state_of(*(pad_batch(part, 20) for part in (qpos, qvel)), 0.4)[0]
    later = PlanTask(4, 10, moved, np.zeros(2), planned.offsets[3])
    found = planner.plan(later, lambda *what: seen.append(what), None, planned)
    assert {number for number, _ in seen} == {2} and len(found) == 6 and found.first == 4
    frame = tracking_error.reference.frames_of(9)[-1]
    off = [
        np.abs(tracking_error.state_error(*world.pose_of(state[None]), frame, np.zeros((1, 2)))).max()
        for state in (planned.ends[-1], found.ends[-1])
    ]
    assert off[1] < off[0] + 0.1
    assert planned.within(4, 11) is None and planned.within(4, 10).first == 4

    # What gets lost on its way back is planned as if nothing had been planned before.
    rate = planner.rate_trajectory
    monkeypatch.setattr(planner, "rate_trajectory", lambda one: (np.array_equal(one.ends, found.ends), rate(one)[1]))
    seen.clear()
    anew = planner.plan(later, lambda *what: seen.append(what), None, planned)
    assert list(dict(seen)) == [2, 0, 1]
    np.testing.assert_array_equal(anew.ends, planner.plan(later, lambda *_: None).ends)


def test_a_plan_begun_is_finished_as_if_it_had_not_been_put_aside(error_and_world):
    tracking_error, world = error_and_world
    seen = []
    first = planner_of(tracking_error, world).plan(whole(tracking_error), lambda *what: seen.append(what))
    planner = planner_of(tracking_error, world)
    nominal = [search for number, search in seen if number == 0][-1].best_trajectory()
    search = planner.search(1, whole(tracking_error), nominal)
    for _ in range(4):
        search.advance()
    again = planner.plan(whole(tracking_error), lambda *what: None, (1, search))
    np.testing.assert_array_equal(again.ends, first.ends)


@pytest.mark.parametrize(("improvable", "dear", "passes"), [(-1.0, 1e9, 4), (1e8, 1e8, 2), (-1.0, -1.0, 5)])
def test_more_passes_where_there_is_something_left_to_improve(error_and_world, monkeypatch, improvable, dear, passes):
    tracking_error, world = error_and_world
    monkeypatch.setattr(plan_module, "_IMPROVABLE", improvable)
    monkeypatch.setattr(plan_module, "_DEAR", dear)
    planner = planner_of(tracking_error, world, (0.1, 0.05, 0.05, 0.05, 0.05))
    planner.effort = SearchEffort(20, planner.effort.spreads, usual=2, last=1)
    seen = []
    whole_plan = planner.plan(whole(tracking_error), lambda number, search: seen.append((number, search)))
    assert sorted({number for number, _ in seen}) == list(range(passes))
    most = min(passes, 4)  # what it comes to is known one pass ahead
    assert {planner.effort.count_passes(number, search.nominal) for number, search in seen if 0 < number < 4} == {most}
    # Taken up again in the second pass, it is as long.
    first = [search for number, search in seen if number == 0][-1].best_trajectory()
    again = planner.plan(whole(tracking_error), lambda *_: None, (1, planner.search(1, whole(tracking_error), first)))
    np.testing.assert_array_equal(again.ends, whole_plan.ends)


def test_what_a_pass_has_learned_the_next_one_goes_by(error_and_world):
    tracking_error, world = error_and_world
    planner, seen = planner_of(tracking_error, world, (0.1, 0.05), improves=True), []
    problem_of = planner._problem_of
    planner._problem_of = lambda number: replace(problem_of(number), shares_models=True)
    planner.effort = SearchEffort(20, (0.1, 0.05), refits_above=1e9, improves=True)
    planner.plan(whole(tracking_error), lambda *what: seen.append(what))
    by_pass = dict(seen)
    learned = by_pass[0].learned_jacobians()
    assert np.abs(learned - by_pass[0].jacobian).max() > 0.01
    np.testing.assert_array_equal(by_pass[1].jacobian, learned.astype(float))
    planner.effort = SearchEffort(20, (0.1, 0.05), improves=True)  # all is fitted anew: there is nothing to learn for
    planner.plan(whole(tracking_error), lambda *what: seen.append(what))
    assert dict(seen)[1].jacobian is None and dict(seen)[0].learned_jacobians() is None


def test_an_improving_pass_ranks_by_the_cost_of_the_whole_trajectory(error_and_world):
    tracking_error, world = error_and_world
    task, seen = whole(tracking_error), []
    planner = planner_of(tracking_error, world, (0.1, 0.05), improves=True)
    planner.plan(task, lambda *what: seen.append(what))
    search = [search for number, search in seen if number == 1][-1]
    nominal, lqr, reference = search.nominal, search.lqr, tracking_error.reference
    spent, rest = 0.0, []
    for at, layer in enumerate(search.layers):
        before = np.tile(nominal.offsets[at - 1] if at else task.before, (world.copies, 1))
        starts, offsets, anchors = (
            np.tile(part[at], (world.copies, 1)) for part in (nominal.starts, nominal.offsets, nominal.anchors)
        )
        targets = reference.servo_targets(np.full(world.copies, at), before, offsets)
        states, rows = roll_out(world, starts, targets)
        frame, pose = int(reference.frames_of(at)[-1]), world.pose_of(states[:, -1])
        spent += compute_cost(reference, frame, pose[0], rows, offsets, anchors, CostWeights()).total[0]
        rest.append(3.0 * lqr.value(at + 1, tracking_error.state_error(*pose, frame, anchors))[0])
        begin = 3.0 * lqr.value(0, tracking_error.state_error(*world.pose_of(task.start[None]), 0, np.zeros((1, 2))))[0]
        assert layer.total[0] == pytest.approx(spent + rest[-1] - begin)


def test_guides_are_for_sections_and_look_ahead(error_and_world, monkeypatch):
    tracking_error, world = error_and_world
    monkeypatch.setattr(plan_module, "SECTION", 4)
    monkeypatch.setattr(plan_module, "AHEAD", 3)
    planner = planner_of(tracking_error, world)
    lqr, first = planner.lqr_at(5)
    assert first == 4 and len(lqr.gains) == 6  # 4 to 8 and what is left of the clip ahead
    assert planner.lqr_at(4)[0] is lqr  # not explored twice
    lqr, first = planner.lqr_at(0)
    assert first == 0 and len(lqr.gains) == 7
    assert lqr.value_hessian[4].any()  # the section's end is not the end


def test_a_plan_of_some_fragments_begins_and_ends_where_asked(error_and_world):
    tracking_error, world = error_and_world
    start = tracking_error.reference.states[tracking_error.reference.frame_before(np.array([3]))[0]]
    task = PlanTask(3, 7, start, np.array([0.5, 0.0]), np.zeros(tracking_error.nu))
    trajectory = planner_of(tracking_error, world, (0.1, 0.05)).plan(task, lambda *what: None)
    assert (trajectory.first, len(trajectory)) == (3, 4)
    np.testing.assert_array_equal(trajectory.starts[0], start)
    assert trajectory.anchors[0].tolist() == [0.5, 0.0]
