# SPDX-License-Identifier: GPL-3.0-or-later
"""Which goals the rows of the graph benchmark meet, and every miss by name."""

import pytest

from sinew.bench.graph.goals import graph_goal_summary, graph_row_line
from sinew.bench.graph.measurements import PARTS, compare_with_paper

HOW = {"seed": 0, "engine": "mujoco", "study": "quality=draft", "commit": "abc", "machine": "2 cores"}
FLOOR, STRETCH, SOON = (
    "stands the paper's push, scaled by mass",
    "walk and run stand twice that (a stretch)",
    "walk and run are learned in under 10 minutes for each second of motion",
)


def table_row(name="walk", push=600.0, per_s=100.0, **more):
    figures = {"learn_s": per_s, "learn_s_per_s": per_s, "iterations": 4, "push_n": push, "falls_unpushed": False}
    return {"part": "table", "name": name, **HOW, **figures, **compare_with_paper(name, push, 62.0), **more}


def walk_row(times_down=3, up=3, soon=3, seconds=300.0):
    falls = {"times_down": times_down, "up_again": up, "up_within_10_s": soon, "by_a_push": 1, "pushes": 29}
    return {"part": "walk", "name": "walk+run", **HOW, "seconds": seconds, **falls}


def collide_row(*falls, touched=(2.0,), seconds=30.0, by_a_touch=1):
    down = [[{"fell_s": fell, "up_s": up, "in": "run"}] for fell, up in falls]
    return {"part": "collide", "name": "run", **HOW, "seconds": seconds, "touched_s": list(touched), "down": down} | {
        "nearest_m": 0.1 if touched else 1.5,
        "by_a_touch": by_a_touch,
    }


def goals(part, *rows):
    return {said: goal["met"] for said, goal in graph_goal_summary(part, rows)["goals"].items()}


def only_goal(part, *rows):
    return next(iter(graph_goal_summary(part, rows)["goals"].values()))


def test_floors_are_the_papers_scaled_by_mass():
    found = compare_with_paper("walk", 140.0, 31.0)
    assert found["floor_n"] == pytest.approx(140.0) and found["reached"] is True
    assert found["stretch_n"] == pytest.approx(280.0) and found["stretched"] is False
    assert compare_with_paper("backflip", 79.0, 62.0)["reached"] is False
    assert compare_with_paper("backflip", 80.0, 62.0)["stretch_n"] is None
    assert compare_with_paper("crawl", 80.0, 62.0)["reached"] is None


def test_the_table_is_held_to_floors_stretches_and_times():
    assert goals("table", table_row(), table_row("run", 940.0)) == {FLOOR: True, STRETCH: True, SOON: True}
    slow = graph_goal_summary("table", [table_row(), table_row("run", 500.0, per_s=660.0)])["goals"]
    assert slow[FLOOR]["met"] is True
    assert slow[STRETCH] == {"met": False, "misses": ["run seed 0: 500 N of 940 N"]}
    assert slow[SOON] == {"met": False, "misses": ["run seed 0: 11.0 minutes"]}
    weak = graph_goal_summary("table", [table_row("dance_a", 200.0, per_s=9999.0)])["goals"]
    assert weak[FLOOR]["misses"] == ["dance_a seed 0: 200 N of 230 N"]
    assert weak[STRETCH]["met"] is None and weak[SOON]["met"] is None
    fell = graph_goal_summary("table", [table_row("dance_a", 0.0, falls_unpushed=True)])["goals"][FLOOR]
    assert fell["misses"] == ["dance_a seed 0: falls unpushed, 0 N of 230 N"]


def test_a_part_that_failed_meets_no_goal_and_one_that_did_not_run_neither():
    bug = {"part": "table", "name": "run", **HOW, "bug": "ValueError: oh"}
    found = graph_goal_summary("table", [table_row(), bug])
    assert found["failed"] == ["run seed 0: ValueError: oh"]
    assert all(goal["met"] is False for goal in found["goals"].values())
    for part in PARTS:
        assert set(goals(part).values()) == {None}


def test_endurance_needs_the_whole_time_and_no_fall():
    row = {"part": "endurance", "name": "walk", **HOW, "seconds": 600.0, "lasted_s": 600.0, "falls": 0}
    assert only_goal("endurance", row)["met"] is True
    fell = only_goal("endurance", row | {"falls": 1, "lasted_s": 12.5})
    assert fell == {"met": False, "misses": ["walk seed 0: fell after 12.5 s"]}
    short = only_goal("endurance", row | {"seconds": 20.0, "lasted_s": 20.0})
    assert short["misses"] == ["walk seed 0: only 20 s of 600 s were played"]


def test_a_pushed_walk_may_fall_but_not_stay_down():
    assert list(goals("walk", walk_row()).values()) == [True, True]
    assert list(goals("walk", walk_row(0, 0, 0)).values()) == [True, True]
    late = graph_goal_summary("walk", [walk_row(3, 3, 2)])["goals"]
    assert [goal["met"] for goal in late.values()] == [True, False]
    assert list(late.values())[1]["misses"] == ["walk+run seed 0: 1 of 3 times it took longer"]
    assert only_goal("walk", walk_row(3, 2, 2))["misses"] == ["walk+run seed 0: 1 of 3 times it stayed down"]
    assert list(goals("walk", walk_row(seconds=30.0)).values()) == [False, False]


def test_cost_is_for_mujoco():
    row = {"part": "cost", "name": "walk", **HOW, "wall_s_per_s": 0.03, "core_s_per_s": 0.03, "over_bare": 9.0}
    assert only_goal("cost", row)["met"] is True
    assert only_goal("cost", row | {"wall_s_per_s": 0.12})["misses"] == ["walk seed 0: 0.120 of real time"]
    assert only_goal("cost", row | {"engine": "bullet", "wall_s_per_s": 0.5})["met"] is None


@pytest.mark.parametrize(
    ("row", "amiss"),
    [
        (collide_row((3.0, 9.0), (3.1, 8.0)), ""),
        (collide_row((3.0, 9.0), (25.0, None)), ""),  # the film ended before it had its time
        (collide_row((3.0, 9.0), (3.1, None)), "1 of 2 times somebody stayed down"),
        (collide_row((25.0, None), (25.0, None)), "nobody was up again before the end"),
        (collide_row(), "nobody fell"),
        (collide_row((20.0, 25.0), by_a_touch=0), "nobody fell because of the other"),
        (collide_row((3.0, 9.0), touched=()), "they came no nearer than 1.50 m"),
    ],
)
def test_who_collides_touches_falls_and_rises(row, amiss):
    found = only_goal("collide", row)
    assert found["met"] is (not amiss)
    assert found["misses"] == ([f"run seed 0: {amiss}"] if amiss else [])


def test_lines_say_what_matters():
    assert graph_row_line(table_row(push=200.0)).split(None, 4)[4] == (
        "200 N (misses 280 N), 100 s to learn (100 s/s), 4 iterations"
    )
    assert graph_row_line(walk_row()).endswith("300 s, 29 pushes: 3 times down (1 by a push), 3 up within 10 s")
    assert graph_row_line(collide_row((3.0, 9.0), (25.0, None))).endswith(
        "2 times down (1 by a touch), 1 times up again"
    )
    assert graph_row_line({"part": "walk", "name": "walk", **HOW, "refused": "No way"}).endswith("No way")


def retarget_row(cold=(240.0, 500.0), warm=(60.0, 490.0)):
    both = {
        how: {"learn_s": seconds, "push_n": push, "iterations": 3, "falls_unpushed": False}
        for how, (seconds, push) in (("cold", cold), ("warm", warm))
    }
    return {"part": "retarget", "name": "walk", **HOW, "longer_legs": 1.25, **both}


def test_what_another_body_knows_must_save_time_and_cost_no_steadiness():
    assert only_goal("retarget", retarget_row())["met"] is True
    assert only_goal("retarget", retarget_row(warm=(250.0, 600.0)))["misses"] == ["walk seed 0: 250 s instead of 240 s"]
    assert only_goal("retarget", retarget_row(warm=(60.0, 400.0)))["misses"] == ["walk seed 0: 400 N instead of 500 N"]
    assert "cold 500 N after 240 s and 3 iterations, warm 490 N after 60 s" in graph_row_line(retarget_row())
