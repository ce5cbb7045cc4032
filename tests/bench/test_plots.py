# SPDX-License-Identifier: GPL-3.0-or-later
"""Drawings have everything within their frame, where the numbers say."""

from xml.etree import ElementTree

import numpy as np
import pytest

from sinew.bench.plots import COLOURS, Series, draw_axes, draw_heatmap, running_mean

SPACE = "{http://www.w3.org/2000/svg}"


def lines(drawing, colour):
    found = [one for one in ElementTree.fromstring(drawing).iter(f"{SPACE}polyline") if one.get("stroke") == colour]
    return [[tuple(map(float, place.split(","))) for place in one.get("points").split()] for one in found]


def test_more_is_further_up_and_later_further_right_within_the_frame():
    drawing = draw_axes(
        "a < b", "samples", "seconds", [Series("rising", [0.0, 1.0, 3.7], [0.0, 2.0, 19.0])], level=20.0
    )
    (points,) = lines(drawing, COLOURS[0])
    across, down = zip(*points, strict=True)
    assert list(across) == sorted(across) and list(down) == sorted(down, reverse=True)
    assert 0.0 < min(across) < max(across) < 400.0 and 0.0 < min(down) < max(down) < 230.0
    words = [one.text for one in ElementTree.fromstring(drawing).iter(f"{SPACE}text")]
    assert {"a < b", "samples", "seconds", "rising", "20"} <= set(words)


def test_dots_below_zero_are_within_and_what_is_empty_is_drawn_too():
    drawing = draw_axes("", "", "", [Series("none", [], []), Series("dots", [0.1, 0.2], [-0.31, 0.4], dots=True)])
    dots = list(ElementTree.fromstring(drawing).iter(f"{SPACE}circle"))
    assert [one.get("fill") for one in dots] == [COLOURS[1]] * 2
    assert 30.0 <= float(dots[1].get("cy")) < float(dots[0].get("cy")) <= 190.0
    assert lines(drawing, COLOURS[0]) == []


def test_a_field_is_dark_where_its_values_are_large():
    drawing = draw_heatmap("", "", "", np.array([[0.0, 1.0], [0.5, 0.0]]), [1.0, 2.0], [0.0, 0.5, 1.0])
    boxes = list(ElementTree.fromstring(drawing).iter(f"{SPACE}rect"))[1:]
    shades = [int(one.get("fill")[1:3], 16) for one in boxes]
    assert shades[0] == shades[3] > shades[2] > shades[1]
    assert float(boxes[1].get("y")) < float(boxes[0].get("y"))  # later seconds are above
    assert float(boxes[2].get("x")) > float(boxes[0].get("x"))  # later samples to the right


def test_smoothing_keeps_the_mean_of_what_is_even_and_the_length():
    assert running_mean([3.0] * 500) == pytest.approx([3.0] * 500)
    noisy = np.arange(600.0) + np.tile([5.0, -5.0], 300)
    found = np.array(running_mean(noisy.tolist()))
    assert len(found) == 600
    assert np.abs(found - np.arange(600.0))[20:-20].max() < 1.0
    assert running_mean([1.0, 2.0]) == [1.0, 2.0]
