# SPDX-License-Identifier: GPL-3.0-or-later
"""``bounds`` and ``bench bounds`` as a user types them, and what is refused before an hour is spent."""

import json

import bpy
import pytest

from sinew.bench import command
from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.control.bounds.files import load_controller
from sinew.core.jobs import worker

from ...stock_clips import needs_stock

pytestmark = needs_stock


def run(*words):
    return command.main([str(word) for word in words])


@pytest.fixture
def hasty(monkeypatch):
    """Train at once, in this process."""

    def at_once(job):
        worker._run(job)
        return job.status()

    monkeypatch.setattr("sinew.bridge.cli.running.run_to_end", at_once)


def test_a_walk_is_trained_tested_and_baked(addon, hasty, tmp_path, capsys):
    out, report, blend = (tmp_path / name for name in ("walk.safetensors", "walk.json", "walk.blend"))
    little = (
        "--set",
        "warm=0",
        "--set",
        "millions=0.001",
        "--set",
        "worlds=16",
        "--set",
        "seconds=1",
        "--bounds",
        "locomotion",
    )
    keys = ("--key", "com z=0:0.2,20:0.15", "--off", "joint head")
    assert run("bounds", "train", "walk", *little, *keys, "--out", out, "--report", report) == 0
    assert "walk.safetensors: not learned yet" in capsys.readouterr().out
    told = json.loads(report.read_text())
    assert (told["status"], told["method"], told["input"]) == ("done", "bounds_train", "walk")
    assert told["bounds"]["samples"] >= 1000
    controller = load_controller(out)
    assert controller.widths[:, 2].min() == pytest.approx(0.15, abs=0.002)

    assert run("bounds", "test", out, "--seconds", 1, "--copies", 4, "--hardest", 30) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["seconds"]) == 4
    assert len(told["push"]["lasted_s"]) == 4 and told["push"]["push_n"] <= 30.0
    assert 0.0 < told["share"] <= 1.0
    assert told["style"]["energy_j"] > 0.0 < told["style"]["volume_m3"]

    words = ("--seconds", 1.5, "--push", "80@0.5:left", "--frame", 11, "--out", blend)
    assert run("bounds", "bake", out, *words) == 0
    assert "Action 'Mannequin pushed' made by bounds_bake" in capsys.readouterr().out
    open_input(str(blend))
    motion = read_rig(bpy.data.objects["Mannequin"])
    assert motion.frame_start == 11
    assert motion.clip.duration_s == pytest.approx(1.5, abs=0.04)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "walk"], "There is no place for the controller"),
        (["train", "walk", "--out", "walk.npz"], "has the wrong ending"),
        (["train", "walk", "--out", "walk.safetensors", "--key", "com z"], "'com z' are no keys of a bound"),
        (["train", "walk", "--out", "walk.safetensors", "--bounds", "narrow"], "Choose one of"),
        (["bake", "none.safetensors"], "does not exist"),
        (["test", "none.safetensors", "--copies", "0"], "A test of nobody"),
    ],
)
def test_what_cannot_be_is_refused_at_once(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("bounds", *words) == 1
    assert said in capsys.readouterr().err


def test_the_benchmark_has_rows_that_go_on_where_they_stopped(tmp_path, capsys):
    rows, kept = tmp_path / "rows.jsonl", tmp_path / "kept"
    kept.mkdir()
    cold = ("--set", "warm=no")  # begun warm, it has more samples than that before its first update
    little = (*cold, "--set", "worlds=16", "--set", "seconds=1", "--clips", "walk", "--seeds", "0", "--kept", kept)
    for millions in ("0.001", "0.002"):
        words = ("--only", "table", "--rows", rows, "--set", f"millions={millions}")
        assert run("bench", "bounds", *words, *little) == 0
        capsys.readouterr()
    first, second = (json.loads(line) for line in rows.read_text().splitlines() if line.strip())
    assert first["samples_m"] < second["samples_m"]
    assert second["minutes"] > first["minutes"] > 0.0
    assert (second["paper_m"], second["done_m"], second["reached"]) == (4.08, None, False)
    assert run("bench", "bounds", "--only", "throughput", *little) == 0
    (row,) = json.loads(capsys.readouterr().out)["bounds"]["rows"]
    assert 0.0 < row["share_of_bare"] < 1.0
    assert row["bare_samples_per_s"] > row["samples_per_s"]


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--only", "tables"], "There is no part 'tables'"), (["--clips", "wlak"], "There is no stock clip 'wlak'")],
)
def test_wrong_options_of_the_benchmark_are_refused(words, said, capsys):
    assert run("bench", "bounds", *words) == 1
    assert said in capsys.readouterr().err
