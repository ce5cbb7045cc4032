# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of styles says what its rows say, also of what failed."""

from sinew.bench.bounds.style_page import make_styles_page, picture_name

PLAIN = {"part": "style", "name": "walk", "seed": 0, "engine": "mujoco", "samples_m": 0.5, "minutes": 2.0}
PLAIN |= {"finished": True, "energy_j": 6.0, "volume_m3": 0.07, "lasts": 1.0}
WILD = {**PLAIN, "style": "more_energy", "energy_j": 9.0, "energy_change": 0.5, "volume_change": -0.1, "reached": True}


def test_the_newest_row_of_a_style_counts_and_is_shown():
    old = {**WILD, "energy_change": 0.1, "reached": False, "finished": False}
    text = make_styles_page([{**PLAIN, "style": "neutral"}, old, WILD], {picture_name(WILD): "images/wild.png"})
    assert "9.0 J (+50%)" in text
    assert "+10%" not in text
    assert "| walk | neutral | 0.50 M, 2.0 min | 6.0 J | 70 l | 100% | – |" in text
    assert "(images/wild.png)" in text


def test_what_failed_is_named_and_what_is_missed_says_no():
    sad = {**PLAIN, "part": "manner", "style": "sad", "distance_neutral": 4.0, "distance": 3.0, "left": 0.75}
    text = make_styles_page(
        [{**sad, "reached": False}, {**PLAIN, "part": "manner", "style": "glad", "refused": "nowhere"}], {}
    )
    assert "| 4.00 | 3.00 (75% is left) | 100% | **no** |" in text
    assert "- walk, glad: nowhere" in text
