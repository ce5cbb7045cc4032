# SPDX-License-Identifier: GPL-3.0-or-later
"""Variations from the command line: every take in one .blend, a table, a report, and an exit code that tells."""

import json

import bpy
import pytest

from sinew.bridge import cli
from sinew.bridge.cli import variations
from sinew.bridge.importing.importers import open_input
from sinew.core import jobs

WALK = ("simulate", "walk", "--method", "passthrough", "--frames", "1:10")


def run(*words):
    return cli.main([str(word) for word in words])


def table(said):
    """The lines of the table, without what Blender says by itself."""
    lines = said.splitlines()
    return lines[next(number for number, line in enumerate(lines) if line.startswith("take")) :]


def takes():
    return sorted(action.name for action in bpy.data.actions if action.name != "walk")


def test_every_take_is_baked_into_the_same_file(scene, tmp_path, capsys):
    out, report = tmp_path / "walk.blend", tmp_path / "walk.json"
    assert run(*WALK, "--variations", 3, "--seed", 5, "--out", out, "--report", report) == 0
    told = json.loads(report.read_text())
    assert (told["status"], told["wanted"], told["done"], told["failed"], told["fell"]) == ("done", 3, 3, 0, 0)
    names = [f"walk variation {n}" for n in (1, 2, 3)]
    assert [row["action"] for row in told["variations"]] == names
    assert [row["seed"] for row in told["variations"]] == [5, 6, 7]
    assert all({"duration_s", "wall_s", "measurements", "versions", "varied"} <= set(row) for row in told["variations"])
    lines = table(capsys.readouterr().out)
    assert lines[0].split() == ["take", "variation", "result", "error", "action"]
    assert [line.split("  ")[-1].strip() for line in lines[1:]] == names
    assert all("stayed up" in line for line in lines[1:])
    open_input(str(out))
    assert takes() == names


@pytest.fixture
def break_second(monkeypatch):
    """The second variation's job has a torn input."""
    original = variations.run_to_end

    def broken(job):
        if job.spec.target.variation == 2:
            (job.inputs / "clip.npz").write_bytes(b"torn")
        return original(job)

    monkeypatch.setattr(variations, "run_to_end", broken)


def test_one_that_fails_does_not_stop_the_others(scene, tmp_path, capsys, break_second):
    out, report = tmp_path / "walk.blend", tmp_path / "walk.json"
    assert run(*WALK, "--variations", 3, "--out", out, "--report", report) == 1
    told = json.loads(report.read_text())
    assert (told["status"], told["done"], told["failed"]) == ("failed", 2, 1)
    assert [row["status"] for row in told["variations"]] == ["done", "failed", "done"]
    assert "damaged" in told["variations"][1]["message"] and told["variations"][1]["action"] is None
    said = capsys.readouterr()
    assert "failed" in table(said.out)[2] and "damaged" in said.err and "Traceback" not in said.err
    open_input(str(out))
    assert takes() == ["walk variation 1", "walk variation 3"]


def test_a_cancel_ends_the_batch_and_the_same_command_goes_on(scene, tmp_path, monkeypatch, capsys):
    words = (*WALK, "--variations", 3, "--job-dir", tmp_path / "jobs", "--report", tmp_path / "walk.json")
    original = variations.run_to_end

    def stopped(job):
        if job.spec.target.variation == 2:
            job.ask_to_stop()
            monkeypatch.setattr(type(job), "forget_requests", lambda self: None)
            return jobs.wait(job, jobs.launch(job))
        return original(job)

    with monkeypatch.context() as patch:
        patch.setattr(variations, "run_to_end", stopped)
        assert run(*words) == cli.CANCELLED
    told = json.loads((tmp_path / "walk.json").read_text())
    assert [row["status"] for row in told["variations"]] == ["done", "cancelled"] and told["status"] == "cancelled"
    assert "run the same command again" in capsys.readouterr().err
    monkeypatch.undo()
    (tmp_path / "jobs" / "2" / "cancel").unlink(missing_ok=True)
    assert run(*words) == 0
    told = json.loads((tmp_path / "walk.json").read_text())
    assert [row["runs"] for row in told["variations"]] == [1, 2, 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--push", "50:200"], "say how many takes with --variations N"),
        (["--from", "left"], "--from is about variations"),
        (["--variations", "2", "--push", "hard"], "'hard' is no range of forces. Write newtons"),
        (["--variations", "2", "--push", "200:50"], "The push goes from 200 to 50"),
        (["--variations", "2", "--push", "50:200", "--from", "above"], "Setting 'side' is 'above'. Choose one of: any"),
        (["--variations", "2", "--from", "left"], "there are none. Add --push 50:200"),
        (["--only", "1"], "--only is about variations"),
        (["--anew"], "--anew is about variations"),
        (["--variations", "2", "--only", "3"], "There is no variation 3 of 2. Give --only a number from 1 to 2"),
        (["--variations", "2", "--only", "0"], "There is no variation 0 of 2"),
        (["--variations", "2", "--seed", "-1"], "The seed is -1"),
        (["--variations", "2", "--seed", str(2**64 - 2)], "The seed is 18446744073709551614"),
        (["--variations", "0"], "Setting 'count' is 0. Give a value between 1 and 1000"),
        (["--variations", "2", "--vary", "colour=red"], "There is no setting 'colour'"),
        (["--variations", "2", "--push", "50", "--method", "passthrough"], "has no physics"),
        (["--variations", "2", "--push", "50", "--vary", "bone=nose"], "'nose' has no body that could be pushed"),
        (["--variations", "2", "--push", "50", "--vary", "duration_s=99"], "does not fit into a clip of"),
        (["--variations", "2", "--vary", "throw=yes"], "There is nothing on the stage to throw"),
    ],
)
def test_wrong_words_are_one_line_with_the_fix(scene, capsys, words, said):
    assert run("simulate", "punch", "--method", "sampling", "--frames", "1:24", *words) == 1
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err
    assert jobs.all_jobs() == []


def test_pushed_takes_are_simulated_and_falls_are_kept(scene, tmp_path, capsys):
    """A gentle and a brutal push: whoever falls is told of and baked like the others."""
    words = ("simulate", "punch", "--method", "sampling", "--set", "quality=draft", "--frames", "1:64", "--no-mesh")
    report = tmp_path / "punch.json"
    vary = ("--vary", "earliest=0", "--vary", "latest=0", "--from", "left")
    assert run(*words, "--variations", 1, "--push", "4000", *vary, "--report", report) == 0
    told = json.loads(report.read_text())
    (row,) = told["variations"]
    assert (
        row["fell"] is True
        and row["action"].startswith("punch, push ")
        and row["action"].endswith(" N, draft, variation 1")
        and told["fell"] == 1
        and told["failed"] == 0
    )
    assert row["varied"]["push_n"] == 4000.0 and "left" in row["varied"]["from"]
    assert told["lost"] == 1 and row["lost"] is True and row["lost_at_s"] <= row["fell_at_s"]
    assert "lost it at" in capsys.readouterr().out


def test_what_is_no_place_to_work_at_is_refused_and_no_cluster_is_said(scene, capfd, tmp_path):
    words = (*WALK, "--variations", 2, "--job-dir", tmp_path / "jobs", "--out", tmp_path / "takes.blend")
    assert run(*words, "--where", "there") == 2
    assert "There is no 'there' to work at" in capfd.readouterr().err
    assert run(*words, "--where", "ray:127.0.0.1:9") == 1
    said = capfd.readouterr().err
    assert "No cluster answers at 127.0.0.1:9" in said or "Working on a cluster needs ray" in said
    assert not (tmp_path / "takes.blend").exists()
    assert run(*words) == 0  # the same jobs, here
    assert takes() == ["walk variation 1", "walk variation 2"]
