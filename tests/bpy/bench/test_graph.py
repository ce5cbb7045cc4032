# SPDX-License-Identifier: GPL-3.0-or-later
"""``bench graph`` from the command line: options, rows, the contact sheet of a collision and the page."""

import json

import numpy as np
import pytest

from sinew.bench.command import main
from sinew.bench.graph import command
from sinew.bench.graph.learned_graphs import GraphCache, stock_skill
from sinew.core.body.build import build_body
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.features import Features
from sinew.core.control.graph.model.io import save_graph
from sinew.core.control.graph.model.policies import zero_policies
from sinew.core.control.graph.model.structure import convert_motion_graph
from sinew.core.control.graph.transitions.motion_graph import MotionGraph

from ...stock_clips import needs_stock

pytestmark = needs_stock


def run(*words):
    return main(["bench", "graph", *(str(word) for word in words)])


@pytest.fixture
def kept(tmp_path):
    """A folder with a walk that was kept, though it has learned nothing."""
    skill = stock_skill("walk")
    body = build_body(skill.clip.skeleton, clip=skill.clip)[0]
    layout, track = convert_motion_graph(body, MotionGraph((skill,)))
    features = Features(body)
    policies = zero_policies(np.zeros((layout.count, len(features.scale))), len(features.action_dofs))
    about = {"curve": [{"change": 0.2, "push_n": 0.0}, {"change": 0.1, "push_n": 20.0}]}
    graph = ControlGraph(layout, track, policies, np.zeros((layout.count, len(features.action_dofs))), about=about)
    folder = tmp_path / "graphs"
    folder.mkdir()
    save_graph(GraphCache(folder, "mujoco", ("quality=draft",)).path(["walk"], 0), graph)
    return folder


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--only", "tables"], 1, "There is no part 'tables'"),
        (["--skills", "wlak"], 1, "There is no stock clip 'wlak'"),
        (["--linked", ","], 1, "--linked names no skills"),
        (["--study", "superb"], 1, "superb"),
        (["--set", "colour=red"], 1, "colour"),
        (["--seconds", "0"], 1, "too few"),
        (["--seeds", "one"], 2, "not a list of numbers"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_learned(scene, capsys, tmp_path, words, code, said):
    assert run(*words, "--graphs", tmp_path / "graphs") == code
    assert said in capsys.readouterr().err


def test_parts_of_different_times_come_together_on_the_page(scene, capsys, tmp_path, kept):
    rows, docs = tmp_path / "rows.jsonl", tmp_path / "docs"
    always = ("--json", "--skills", "walk", "--linked", "walk", "--study", "draft", "--graphs", kept, "--rows", rows)
    assert run(*always, "--only", "table") == 0
    on_played = capsys.readouterr()
    found = json.loads(on_played.out)["graph"]
    assert found["finished"] is True and found["summary"]["table"]["goals"]
    assert on_played.err.splitlines()[0] == "walk: kept, learned at some time"
    assert on_played.err.splitlines()[1].startswith("table     walk      seed 0")
    assert run(*always, "--only", "endurance,collide", "--seconds", 2, "--sheets", docs) == 0
    text = (docs / "graph.md").read_text(encoding="utf-8")
    assert "| walk | 1.27 s |" in text and "| walk seed 0 | " in text
    assert "(images/graph/curve_walk.svg)" in text and "(images/graph/collide.png)" in text
    assert (docs / "images" / "graph" / "curve_walk.svg").is_file()
    assert 1000 < (docs / "images" / "graph" / "collide.png").stat().st_size <= 300_000
    parts = [json.loads(line)["part"] for line in rows.read_text().splitlines() if line]
    assert parts == ["table", "endurance", "collide"]


def test_a_meeting_is_shown_from_the_touch_until_all_are_up():
    fell = [[{"fell_s": 4.0, "up_s": 9.0}], [{"fell_s": 5.0, "up_s": 11.0}, {"fell_s": 20.0, "up_s": 26.0}]]
    row = {"seconds": 30.0, "touched_s": [1.0, 3.0, 18.0], "down": fell}
    assert command._window(row) == (2.5, 11.2)
    assert command._window(row | {"down": [[{"fell_s": 0.4, "up_s": None}]]}) == (0.0, 30.0)
    assert command._window(row | {"touched_s": [5.0], "down": [[], []]}) == (3.0, 7.0)
