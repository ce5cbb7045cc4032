# SPDX-License-Identifier: GPL-3.0-or-later
"""The page about improvising says what the newest row of each kind says, library by library."""

from sinew.bench.improvise_page import write_improvise_page
from sinew.bench.rows import append_row

ROLLOUTS = {
    "what": "2 random rollouts, cut at 60 s",
    "kind": "rollouts",
    "library": "boxing",
    "seconds": 60.0,
    "rollouts": 2,
    "mean_time_until_fall_s": 12.0,
    "falls": 2,
    "coverage": 0.5,
    "evenness": 0.9,
    "speed_m_s": 0.4,
    "library_speed_m_s": 0.8,
    "styles": {"punch": {"library": 1.0, "time": 1.0, "coverage": 0.5}},
    "goal": {"mean_time_until_fall_s": 55.0},
}
TASK = {
    "what": "task path",
    "kind": "task",
    "library": "boxing",
    "sigma_rad": 0.1,
    "minutes": 3.0,
    "million_samples": 0.25,
    "path_error_m": 0.75,
    "mean_up_s": 15.0,
    "seconds": 20.0,
    "earned_at": [(100_000, 0.1), (250_000, 0.2)],
    "goal": {"path_error_m": 0.5, "minutes": 15.0},
}


def test_the_newest_rows_are_told_with_goals_and_samples(tmp_path):
    rows = tmp_path / "rows.jsonl"
    (tmp_path / "images").mkdir()
    append_row(rows, {"what": "a row of old", "minutes": 1.0})  # rows had no kinds then
    for row in (
        ROLLOUTS,
        {**ROLLOUTS, "mean_time_until_fall_s": 48.25, "falls": 1},
        {**ROLLOUTS, "library": "walks"},
        TASK,
    ):
        append_row(rows, row)
    text = write_improvise_page(tmp_path, rows).read_text()
    assert "| 48.2 s; 1 fall | 55 s |" in text and "a row of old" not in text
    assert text.index("## Boxing") < text.index("## Walks") and "| 12.0 s; 2 fall | 55 s |" in text.split("## Walks")[1]
    wanted = (
        "| task path, σ 0.1, after 3.0 min, 0.25 million samples | 0.75 off the path by m; up 15.0 of 20 s | 0.5 off"
    )
    assert wanted in text
    assert (tmp_path / "images" / "improvise_tasks.svg").read_text().startswith("<svg")
    assert "improvise_up.svg" not in text  # nobody was tested over samples
