# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves of learning are drawn where they can be read: all of them within the drawing, by whatever happened."""

from xml.etree import ElementTree

import pytest

from sinew.bench.graph.learning_curves import draw_learning_curve

SPACE = "{http://www.w3.org/2000/svg}"


def iteration(change: float, push_n: float | None = None) -> dict[str, float]:
    return {"change": change} if push_n is None else {"change": change, "push_n": push_n}


def marks(drawing: str, colour: str) -> list[tuple[float, float, bool]]:
    """Across, down, and whether it is a ring: the marks of one curve."""
    found = ElementTree.fromstring(drawing).iter(f"{SPACE}circle")
    own = [one for one in found if colour in (one.get("fill"), one.get("stroke"))]
    return [(float(one.get("cx")), float(one.get("cy")), one.get("fill") == "white") for one in own]


@pytest.fixture
def ground() -> float:
    """How far down zero is."""
    return marks(draw_learning_curve("still", [iteration(0.0)]), "#2a6fb0")[0][1]


def test_changes_fall_and_pushes_rise_to_the_right():
    drawing = draw_learning_curve(
        "walk", [iteration(0.03, 100.0), iteration(0.02, 200.0), iteration(0.01, 350.0)], 280.0
    )
    for colour, sign in (("#2a6fb0", 1.0), ("#c2571a", -1.0)):
        points = marks(drawing, colour)
        assert [x for x, _, _ in points] == sorted(x for x, _, _ in points)
        down = [sign * y for _, y, _ in points]
        assert down == sorted(down) and len(set(down)) == 3
        assert not any(ring for _, _, ring in points)


def test_who_falls_without_a_push_is_a_ring_on_the_ground_line(ground):
    """The test of pushes says -10 N for that, which would be among the words below."""
    points = marks(draw_learning_curve("backflip", [iteration(0.03, 70.0), iteration(0.02, -10.0)], 80.0), "#c2571a")
    assert points[0][1] < ground and not points[0][2]
    assert points[1][1] == ground and points[1][2]


def test_a_floor_above_all_pushes_is_within_the_drawing():
    lines = ElementTree.fromstring(draw_learning_curve("kick", [iteration(0.03, 20.0)], 900.0)).iter(f"{SPACE}polyline")
    (floor,) = [one for one in lines if one.get("stroke-dasharray")]
    assert all(20.0 < float(place.split(",")[1]) < 180.0 for place in floor.get("points").split())


def test_lessons_without_pushes_and_names_of_any_kind_are_drawn():
    drawing = draw_learning_curve("walk>run & <kick>", [iteration(0.03), iteration(0.02)])
    assert marks(drawing, "#c2571a") == [] and len(marks(drawing, "#2a6fb0")) == 2
    words = [one.text for one in ElementTree.fromstring(drawing).iter(f"{SPACE}text")]
    assert "walk>run & <kick>" in words and {"change", "push"} <= set(words)
