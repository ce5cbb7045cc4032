# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans: every pass is done, the next knows the way of the last, and a guide looks beyond its section."""

import numpy as np
import pytest

from sinew.core.control.sampling import plan as plan_module
from sinew.core.control.sampling.plan import Planner, PlanTask, SearchEffort

from .toys import gauge_of, ground_of, waving, world_of


@pytest.fixture(scope="module")
def gauge_and_world():
    world = world_of(20)
    yield gauge_of(world, waving(1.0)), world
    world.close()


def planner_of(gauge, world, spreads=(0.1, 0.05, 0.03)):
    """Every pass has its own randomness and spread."""
    return Planner(gauge, lambda number: ground_of(world, gauge, number, spreads[number]), SearchEffort(20, spreads))


def whole(gauge):
    return PlanTask(0, gauge.reference.fragments, gauge.reference.states[0], np.zeros(2), np.zeros(gauge.nu))


def test_passes_follow_each_other_and_each_knows_the_way_before(gauge_and_world):
    gauge, world = gauge_and_world
    seen = []
    way = planner_of(gauge, world).planned(whole(gauge), lambda number, search: seen.append((number, search)))
    assert sorted({number for number, _ in seen}) == [0, 1, 2] and len(way) == 10
    by_pass = dict(seen)
    assert by_pass[0].known is None
    for number in (1, 2):
        before, search = by_pass[number - 1].way(), by_pass[number]
        np.testing.assert_array_equal(search.known.ends, before.ends)
        np.testing.assert_array_equal([layer.states[0] for layer in search.layers], before.ends)
        last = search.layers[-1]
        assert last.total.min() <= last.total[0]  # never worse than what was known


def test_a_plan_begun_is_finished_as_if_it_had_not_been_put_aside(gauge_and_world):
    gauge, world = gauge_and_world
    seen = []
    first = planner_of(gauge, world).planned(whole(gauge), lambda *what: seen.append(what))
    planner = planner_of(gauge, world)
    known = [search for number, search in seen if number == 0][-1].way()
    search = planner.search(1, whole(gauge), known)
    for _ in range(4):
        search.advance()
    again = planner.planned(whole(gauge), lambda *what: None, (1, search))
    np.testing.assert_array_equal(again.ends, first.ends)


def test_guides_are_for_sections_and_look_ahead(gauge_and_world, monkeypatch):
    gauge, world = gauge_and_world
    monkeypatch.setattr(plan_module, "SECTION", 4)
    monkeypatch.setattr(plan_module, "AHEAD", 3)
    planner = planner_of(gauge, world)
    guide, first = planner.guide_at(5)
    assert first == 4 and len(guide.gains) == 6  # 4 to 8 and what is left of the clip ahead
    assert planner.guide_at(4)[0] is guide  # not explored twice
    guide, first = planner.guide_at(0)
    assert first == 0 and len(guide.gains) == 7
    assert guide.curves[4].any()  # the section's end is not the end


def test_a_plan_of_some_fragments_begins_and_ends_where_asked(gauge_and_world):
    gauge, world = gauge_and_world
    start = gauge.reference.states[gauge.reference.frame_before(np.array([3]))[0]]
    task = PlanTask(3, 7, start, np.array([0.5, 0.0]), np.zeros(gauge.nu))
    way = planner_of(gauge, world, (0.1, 0.05)).planned(task, lambda *what: None)
    assert (way.first, len(way)) == (3, 4)
    np.testing.assert_array_equal(way.starts[0], start)
    assert way.anchors[0].tolist() == [0.5, 0.0]
