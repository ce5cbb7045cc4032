# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of learning within bounds says what its rows say, the newest of each, also of what failed."""

from sinew.bench.bounds.drawings import drawings
from sinew.bench.bounds.page import make_bounds_page

PLAIN = {"name": "backflip", "seed": 0, "engine": "mujoco", "bounds": "loose", "commit": "abc", "machine": "2 cores"}
LEARNED = {
    **PLAIN,
    "cycle_s": 1.75,
    "samples_m": 2.0,
    "minutes": 5.0,
    "core_minutes": 9.0,
    "share": 0.5,
    "done_m": None,
}
LEARNED |= {"curve": [[1e6, 0.5], [2e6, 1.5]]}
STARTS = {"seconds": [0.0, 0.9, 1.75], "samples": [1e6, 2e6]}
STARTS |= {name: [[0.1, 0.2], [0.3, 0.4]] for name in ("returns", "chances", "begun", "apart")}
ELITES = {"seconds": [0.1, 1.0], "first": [0.2, -0.3], "course": [0.0, 0.1, 0.2]}


def test_table_1_stands_beside_the_papers_and_the_newest_row_counts():
    own = {**LEARNED, "part": "table", "paper_m": 41.2, "deepmimic_m": 31.18, "reached": False}
    done = {**own, "done_m": 1.9, "reached": True}
    text = make_bounds_page([own, done, {**done, "seed": 1, "refused": "no clip"}], {"table_backflip": "images/t.svg"})
    assert "| backflip | 0 | loose | cold | 1.75 s | **1.90** | 5.0 | 9.0 | 41.20 | 31.18 | yes |" in text
    assert "not after" not in text
    assert "- backflip, seed 1: no clip" in text
    assert "(images/t.svg)" in text
    at_once = {**done, "seed": 1, "curve": []}
    assert "seed 1" not in drawings([done, at_once])["table_backflip"]
    assert not drawings([at_once])


def test_ablations_are_in_one_table_with_their_drawings():
    rows = [
        {**LEARNED, "part": "ablation", "variant": name, "starts": STARTS, "elites": ELITES}
        for name in ("neither", "importance", "evolution")
    ]
    rows[1]["done_m"] = 1.5
    drawn = drawings(rows)
    assert set(drawn) == {f"{kind}_backflip" for kind in ("ablation", "begun", "returns", "apart", "elites")}
    assert all(text.startswith("<svg") for text in drawn.values())
    text = make_bounds_page(rows, {name: f"images/{name}.svg" for name in drawn})
    assert "| backflip | 0 | cold | importance only | **1.50 M** | 2.00 M | 5.0 | 50% | 1.5 s |" in text
    assert text.index("importance only") < text.index("elites only") < text.index("| neither")
    assert all(f"(images/{name}.svg)" in text for name in drawn)


def test_claims_tell_who_lasts_and_what_width_changes():
    keyed = {**LEARNED, "part": "claims", "claim": "keyframes", "poses": 4, "reference_off": 0.1}
    keyed |= {"does": 0.25, "does_s": 5.0, "stands": 1.0, "stands_s": 20.0}
    wide = {**LEARNED, "part": "claims", "claim": "width", "swing": 0.4, "from_source": 0.1, "from_first": None}
    wide["from_other_seed"] = None
    rows = [{**keyed, "variant": "imitation"}, {**wide, "variant": "loose"}]
    rows.append({**wide, "variant": "loose_again", "from_first": 0.1, "from_other_seed": 0.1})
    tight = {**wide, "variant": "tight", "bounds": "tight", "from_source": 0.05, "from_first": 0.2, "done_m": 1.0}
    rows.append(tight)
    text = make_bounds_page(rows, {})
    assert "| likeness alone | 2.00 | 5.0 s, 25% | 20.0 s, 100% |" in text
    assert "| backflip | loose | 0.100 | 0.100 | – |" in text
    assert "| backflip | tight | 0.050 (-50%) | – | 0.200 |" in text
    assert "| loose | 0 | cold | 2.00 | 50% | 0.100 (25%) | – | – |" in text
    assert "| loose | 1 | cold | 2.00 | 50% | 0.100 (25%) | 0.100 (25%) | 0.100 (25%) |" in text
    assert "| tight | 0 | cold | 2.00, learned at 1.00 | 50% | 0.050 (12%) | 0.200 (50%) | – |" in text


def test_styles_and_throughput_are_there_too():
    speed = {**PLAIN, "part": "throughput", "worlds": 512, "samples_per_s": 6000.0, "bare_samples_per_s": 10000.0}
    speed |= {"share_of_bare": 0.6, "share_of_bare_by_cpu_time": 0.58, "goal": 0.55, "reached": True}
    style = {**PLAIN, "part": "style", "style": "more_energy", "samples_m": 1.0, "energy_change": 0.4, "lasts": 1.0}
    text = make_bounds_page([speed, {**style, "volume_change": -0.1, "reached": True}], {})
    assert "| backflip | 512 | 6000 | 10000 | 60% | 58% | 55% | yes |" in text
    assert "| backflip | 0 | more energy | 1.00 | +40% | -10% | – | 100% | yes |" in text
