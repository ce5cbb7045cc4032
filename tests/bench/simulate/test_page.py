# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of pictures and figures, from rows alone."""

from sinew.bench.simulate import goals
from sinew.bench.simulate.page import simulate_page

STOCK = {"group": "stock", "engine": "mujoco", "clip_s": 5.0, "wall_s": 6.0, "wall_over_clip": 1.2, "jerk_ratio": 1.1}


def made(rows, pictures=None, **summaries):
    result = {"settings": {"method": "sampling", "quality": "normal"}, "summary": summaries}
    return simulate_page(result, rows, pictures or {}, "2 cores")


def test_clips_are_rows_with_the_mean_over_seeds():
    rows = [
        {**STOCK, "clip": "walk", "seed": 0, "fell_at_s": None, "joint_error_m": 0.030},
        {**STOCK, "clip": "walk", "seed": 1, "fell_at_s": 2.5, "joint_error_m": 0.050},
    ]
    text = made(rows, stock=goals.stock_summary(rows))
    assert "| walk | 5.0 s | 1 of 2 (lost at 2.5 s) | 40 mm | – | 1.10 × | 1.20 × |" in text
    assert "| stock | none falls | **no** | walk seed 1: lost it at 2.50 s of 5.00 s |" in text
    assert "| stock | at most 2 cm/s foot skate in 38 of 45 | not measured | – |" in text
    assert "| stock | at most 40 mm joint error in 42 of 45 | on average | walk seed 1: 50 mm joint error |" in text


def test_pictures_have_the_figures_of_the_seed_they_show():
    rows = [{**STOCK, "clip": "walk", "seed": seed, "fell_at_s": None, "joint_error_m": 0.03 + seed} for seed in (0, 1)]
    text = made(rows, {"walk": "images/simulate/walk.png"})
    assert "![walk, simulated](images/simulate/walk.png)\n\nSeed 0: stood; joint error 30 mm" in text


def test_pushes_are_a_table_of_sides_and_phases():
    pushed = {**STOCK, "group": "push", "clip": "walk", "seed": 0, "push_at_s": 1.5}
    rows = [
        {**pushed, "fell_at_s": None, "from": "left", "phase": 0.0},
        {**pushed, "fell_at_s": 3.0, "from": "left", "phase": 0.5},
    ]
    assert "| left | stood | – | lost 1.5 s after | – |" in made(rows)


def test_odd_files_and_missing_props_are_told():
    odd = {"group": "odd", "clip": "short", "seed": 0, "clip_s": 0.0, "refused": "Too | short", "verdict": "refused"}
    better = {**odd, "clip": "lost", "verdict": "better", "source_deepest_m": 0.9, "deepest_m": 0.01}
    del better["refused"]
    stairs = {**STOCK, "group": "files", "clip": "stairs", "seed": 0, "fell_at_s": 1.0, "needs": "the stairs"}
    text = made([odd, better, stairs])
    assert "| short | refused: Too / short | – | – | – |" in text
    assert "| lost | better | – | 90.0 → 1.0 cm | – |" in text
    assert "- stairs needs the stairs. Said: nothing." in text
    told = {**stairs, "missing": ["needs_stairs"], "accepted": ["It is 30 m tall"]}
    text = made([told])
    assert "- stairs needs the stairs. Said: stairs." in text and "- stairs: It is 30 m tall." in text
