# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated timeline of a cluster: what must hold of it whatever was measured."""

import argparse
import json

import numpy as np
import pytest

from sinew.bench import timeline
from sinew.core.errors import BadFile


@pytest.fixture
def simulate(tmp_path):
    """What the benchmark gives for rows of made-up seconds."""
    rng = np.random.default_rng(0)
    each = [
        {"between": 0.41, "learning": 0.4, "all": 0.65, "shards": rng.uniform(0.4, 0.6, 2).tolist()} for _ in range(20)
    ]
    sent = {"rollouts_home": 3e6, "weights_to_each": 3e5}
    rows = [
        {
            "part": "takes",
            "take_s": [10, 11, 9, 12],
            "there_s": 24,
            "nodes": 2,
            "takes": 4,
            "inputs_bytes": 1e6,
            "result_bytes": 5e5,
        },
        {"part": "training", "rows": [{"shards": 2, "nodes": 2, "each": each, "bytes_an_update": sent}]},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))

    def run(*words):
        parser = argparse.ArgumentParser()
        timeline.add_arguments(parser)
        return timeline.measure(parser.parse_args(["--rows", str(path), *words]))

    return run


def test_more_cores_give_more_until_the_learner_is_full(simulate):
    found = simulate()["training"]
    gains = [row["faster_than_one_core"] for row in found]
    assert gains == sorted(gains) and gains[0] <= 2.0
    assert gains[-1] < 0.45 / 0.2 + 1.0  # a shard's seconds over those of learning from it, however many there are
    assert [row["shares"]["learning"] for row in found] == sorted(row["shares"]["learning"] for row in found)
    assert all(abs(sum(row["shares"].values()) - 1.0) < 1e-9 for row in found)
    quick = simulate("--learner", "100", "--gigabits", "100")["training"]
    assert all(one["faster_than_one_core"] > other for one, other in zip(quick[1:], gains[1:], strict=True))


def test_takes_keep_cores_busy_and_none_is_made_before_it_could_be(simulate):
    for row in simulate()["takes"]:
        assert 9.0 * row["takes"] / row["cores"] <= row["seconds"] and 0.0 < row["used"] <= 1.0


def test_rows_without_figures_are_refused(simulate, tmp_path):
    with pytest.raises(BadFile, match="bench scale --rows"):
        simulate("--rows", str(tmp_path / "none.jsonl"))
