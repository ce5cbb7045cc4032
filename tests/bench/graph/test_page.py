# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of learned graphs and its drawings, from rows alone."""

from xml.etree import ElementTree

import pytest

from sinew.bench.graph.goals import graph_goal_summary
from sinew.bench.graph.learning_curves import draw_learning_curve
from sinew.bench.graph.measurements import PARTS, compare_with_paper
from sinew.bench.graph.page import curve_name, graph_page

HOW = {"seed": 0, "engine": "mujoco", "study": "quality=normal", "commit": "abc1234", "machine": "2 cores, Linux"}
CURVE = [{"change": 0.03, "push_n": 100.0}, {"change": 0.02, "push_n": 240.0}, {"change": 0.01, "push_n": 300.0}]
WALK = {
    "part": "table",
    "name": "walk",
    **HOW,
    "learned_at": "fff",
    "motion_s": 1.27,
    "learn_s": 127.0,
    "learn_core_s": 200.0,
    "refine_s": 20.0,
    "learn_s_per_s": 100.0,
    "iterations": 3,
    "push_n": 300.0,
    "falls_unpushed": False,
    "curve": CURVE,
    **compare_with_paper("walk", 300.0, 62.0),
}
DOWN = [{"fell_s": 3.0, "up_s": 9.5, "in": "run"}, {"fell_s": 28.0, "up_s": None, "in": "walk>run"}]


def made(rows, pictures=None):
    return graph_page(
        {part: graph_goal_summary(part, [r for r in rows if r["part"] == part]) for part in PARTS}, rows, pictures or {}
    )


def test_the_table_has_times_pushes_and_floors():
    practised = {**WALK, "curve": [*CURVE[:-1], {**CURVE[-1], "felled": 0.3}]}
    text = made([practised, {**WALK, "name": "run", **compare_with_paper("run", 300.0, 62.0), "learn_s": None}])
    assert "| walk | 1.27 s | 127 s | 200 s | 20 s | 100 s | 2 + 1 | **300 N** | 280 N ✓ | 560 N ✗ |" in text
    assert "| run | 1.27 s | – | 200 s | 20 s | 100 s | 3 + 0 | **300 N** | 470 N ✗ | 940 N ✗ |" in text
    assert "| table | stands the paper's push, scaled by mass | **no** | run seed 0: 300 N of 470 N |" in text
    assert "| endurance | 10 minutes without a fall | not measured | – |" in text
    assert "2 cores, Linux, mujoco, quality=normal, learned at fff, measured at abc1234" in text


def test_drawings_are_shown_where_there_are_any():
    assert curve_name(WALK) == "curve_walk" and curve_name({**WALK, "seed": 2}) == "curve_walk_2"
    assert "![walk](images/graph/curve_walk.svg)" in made([WALK], {"curve_walk": "images/graph/curve_walk.svg"})
    assert "![" not in made([WALK])


def test_falls_of_walks_and_collisions_are_listed():
    walk = {"part": "walk", "name": "walk+run", **HOW, "seconds": 300.0, "pushes": 29, "push_n": 150.0, "down": DOWN}
    walk |= {"times_down": 2, "by_a_push": 1, "up_again": 1, "up_within_10_s": 1, "slowest_up_s": 6.5, "learn_s": 900.0}
    walk |= {"transitions": ["walk@0.40>run@0.10"], "seconds_in": {"walk": 100.0, "transitions": 3.5, "down": 4.0}}
    meet = {
        "part": "collide",
        "name": "run",
        **HOW,
        "skill": "run",
        "seconds": 30.0,
        "touched_s": [2.5],
        "by_a_touch": 1,
        "down": [DOWN, []],
    }
    text = made([walk, meet], {"collide": "images/graph/collide.png"})
    assert "Down 2 times, 1 of them soon after a push; up again 1 times, 1 within 10 s, the slowest after 6.5 s" in text
    assert "| transitions | 3.5 |" in text
    assert "| 3.0 s | run | 6.5 s |" in text and "| 28.0 s | walk>run | – |" in text
    assert "| 1 | 3.0 s | run | 6.5 s |" in text and "Touched at 2.5 s." in text
    assert "(images/graph/collide.png)" in text


def test_what_failed_is_told():
    text = made([{"part": "cost", "name": "walk", **HOW, "refused": "No | engine"}])
    assert "- walk seed 0: No / engine" in text


def test_a_drawing_has_both_curves_and_the_floor():
    drawing = ElementTree.fromstring(draw_learning_curve("walk > run", CURVE, floor_n=280.0))
    name = "{http://www.w3.org/2000/svg}"
    lines = drawing.findall(f"{name}polyline")
    dashed = [line for line in lines if line.get("stroke-dasharray")]
    curves = [line.get("points").split() for line in lines if line.get("stroke-width") == "2"]
    heights = [[float(point.split(",")[1]) for point in curve] for curve in curves]
    assert len(dashed) == 1 and [len(curve) for curve in curves] == [3, 3]
    assert heights[0] == sorted(heights[0]) and heights[1] == sorted(heights[1], reverse=True)  # y goes down
    assert len(drawing.findall(f"{name}circle")) == 6
    # The last push is above the floor, the one before below.
    floor = float(dashed[0].get("points").split(",")[-1])
    assert heights[1][2] < floor < heights[1][1]


@pytest.mark.parametrize("curve", [[], CURVE[:1], [{"change": 0.0}, {"change": None, "push_n": 0.0}]])
def test_short_and_empty_curves_are_drawn(curve):
    assert "nan" not in draw_learning_curve("walk", curve)
    ElementTree.fromstring(draw_learning_curve("walk", curve))


def test_another_body_has_a_line_for_each_way_to_begin():
    own = {"learn_s": 240.0, "iterations": 6, "push_n": 500.0, "falls_unpushed": False, "first_push_n": 460.0}
    row = {"part": "retarget", "name": "walk", **HOW, "longer_legs": 1.25, "mass_kg": 88.8, "cold": own}
    text = made([row | {"warm": own | {"learn_s": 60.0, "push_n": 0.0, "falls_unpushed": True, "iterations": 1}}])
    assert "| walk seed 0 | legs × 1.25, 89 kg | nothing | 240 s | 6 | 460 N | **500 N** |" in text
    assert "| what the first body knows | 60 s | 1 | 460 N | falls by itself |" in text
