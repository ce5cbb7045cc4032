# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of benchmarks in files: what was measured at different times comes together."""

import re

from sinew.bench import rows as bench_rows


def test_rows_come_back_and_a_torn_line_costs_only_itself(tmp_path):
    file = tmp_path / "rows.jsonl"
    assert bench_rows.read_rows(file) == []
    bench_rows.append_row(file, {"name": "walk", "push_n": 280.0})
    with file.open("a", encoding="utf-8") as stream:
        stream.write('{"name": "ru')  # killed here
    bench_rows.append_row(file, {"name": "kick", "curve": [{"change": 0.1}]})
    assert bench_rows.read_rows(file) == [
        {"name": "walk", "push_n": 280.0},
        {"name": "kick", "curve": [{"change": 0.1}]},
    ]


def test_the_newest_of_the_same_measurement_counts_in_the_place_of_the_first():
    rows = [{"name": "walk", "n": 1}, {"name": "run", "n": 2}, {"name": "walk", "n": 3}, {"n": 4}]
    assert bench_rows.newest_rows(rows, ["name"]) == [{"name": "walk", "n": 3}, {"name": "run", "n": 2}, {"n": 4}]
    assert len(bench_rows.newest_rows(rows, ["name", "n"])) == 4


def test_the_state_of_the_code_is_a_commit_or_nothing():
    assert re.fullmatch(r"([0-9a-f]{7,40}\+?)?", bench_rows.code_version())


def test_without_git_the_commit_is_not_known(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bench_rows.code_version() == ""
