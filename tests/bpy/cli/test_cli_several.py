# SPDX-License-Identifier: GPL-3.0-or-later
"""Several inputs of one simulation: a .blend of each, and what is refused."""

import json

import bpy
import pytest

from directed_walks import make_stored_walks
from sinew.bridge import cli
from sinew.bridge.importing.importers import open_input
from sinew.bridge.learned.paths import file_stem
from sinew.bridge.library.assembling import write_library


def run(*words):
    return cli.main([str(word) for word in words])


def test_each_becomes_a_file_of_its_own_and_one_that_fails_stops_none(scene, tmp_path, capsys):
    torn = tmp_path / "torn.bvh"
    torn.write_text("HIERARCHY")
    out, report = tmp_path / "takes", tmp_path / "takes.json"
    words = ("--method", "passthrough", "--out", out, "--report", report, "--job-dir", tmp_path / "jobs")
    assert run("simulate", "walk", torn, "run", *words) == 1
    told = json.loads(report.read_text())
    assert (told["status"], told["wanted"], told["done"]) == ("failed", 3, 2)
    assert [row["status"] for row in told["inputs"]] == ["done", "failed", "done"]
    assert sorted(path.name for path in out.iterdir()) == ["run.blend", "walk.blend"]
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == ["run", "walk"]
    assert "torn.bvh" in capsys.readouterr().err
    open_input(str(out / "run.blend"))
    assert told["inputs"][2]["action"] in bpy.data.actions


def test_a_library_is_as_many_inputs_as_it_has_clips(scene, tmp_path):
    stored, path, out, report = make_stored_walks(), tmp_path / "w.library.npz", tmp_path / "takes", tmp_path / "r.json"
    write_library(path, stored)
    assert run("simulate", path, "--method", "passthrough", "--out", out, "--report", report) == 0
    told, names = json.loads(report.read_text()), [clip.name for clip in stored.clips]
    assert [row["input"] for row in told["inputs"]] == [f"{path}: {name}" for name in names]
    assert {one.stem for one in out.iterdir()} == set(map(file_stem, names)) and told["done"] == len(names) > 1
    assert run("simulate", tmp_path / "none.library.npz", "--out", out) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("walk", "run"), "Give --out FOLDER"),
        (("walk", "run", "--out", "x.blend"), "is no folder"),
        (("walk", "run", "--out", "x", "--variations", "2"), "--variations is for one input"),
        (("walk", "run", "--out", "x", "--frames", "1:9"), "--frames is for one input"),
        (("a/walk.bvh", "b/walk.fbx", "--out", "x"), "would both become 'walk.blend'"),
    ],
)
def test_what_only_one_input_can_have_is_refused(scene, words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("simulate", *words) != 0
    assert said in capsys.readouterr().err and not list(tmp_path.iterdir())
