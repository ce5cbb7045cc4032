# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line as a user types it."""

import json
import os
import signal
import subprocess
import sys
import time

import bpy
import numpy as np
import pytest

from sinew.bench.command import main
from sinew.bridge import is_command
from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.scene.saving import save_blend
from sinew.core import jobs

from ..helpers.rigs import arm, wave

REPORT_KEYS = {"status", "method", "engine", "seed", "duration_s", "wall_s", "fell", "lost", "lost_at_s", "versions"}


@pytest.fixture
def command(root):
    """The words that start the command line in a process of its own."""
    return [sys.executable, str(root / "bridge" / "cli"), "simulate"]


def run(*words):
    return main([str(word) for word in words])


def armature():
    return next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")


def test_simulate_a_stock_clip_into_a_blend_with_a_report(scene, tmp_path, capsys):
    out, report = tmp_path / "walk.blend", tmp_path / "walk.json"
    assert run("simulate", "walk", "--method", "passthrough", "--out", out, "--report", report, "--seed", 7) == 0
    told = json.loads(report.read_text())
    assert REPORT_KEYS <= set(told)
    assert (told["status"], told["method"], told["seed"], told["fell"]) == ("done", "passthrough", 7, False)
    said = capsys.readouterr().out
    assert "walk passthrough" in said and "Stayed with the source exactly" in said
    open_input(str(out))
    obj = armature()
    taken = read_rig(obj)
    assert obj.animation_data.action.name == told["action"] == "walk passthrough"
    source = read_rig(obj, action=bpy.data.actions["walk"])
    assert np.abs(taken.clip.world()[0] - source.clip.world()[0]).max() < 1e-4
    assert told["duration_s"] == pytest.approx(source.clip.duration_s)


def test_what_no_body_can_be_is_refused_with_both_ways_out(scene, capsys, tmp_path):
    report = tmp_path / "giant.json"
    open_input("walk")
    armature().scale = (36.0, 36.0, 36.0)
    save_blend(tmp_path / "giant.blend")
    words = ("simulate", tmp_path / "giant.blend", "--method", "passthrough", "--report", report)
    assert run(*words) == 1 and not report.exists()
    said = capsys.readouterr().err
    assert "m tall" in said and "--scale" in said and "--anyway" in said
    assert run(*words, "--anyway") == 0 and json.loads(report.read_text())["status"] == "done"


def test_trim_is_for_methods_that_leave_something_out(scene, capsys):
    assert run("simulate", "walk", "--method", "passthrough", "--trim", "off") == 1
    assert "leaves nothing out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cmu/07_01_walk.bvh", ["--scale", "0.0564444", "--frames", "2:200"]),
        ("fbx/pab_walk.fbx", []),
        ("skinned/CesiumMan.glb", []),
        ("skinned/mannequiny.glb", ["--action", "run_root.001"]),
    ],
)
def test_simulate_real_files(scene, shared_mocap, tmp_path, name, words):
    out = tmp_path / "out.blend"
    assert run("simulate", shared_mocap / name, "--method", "passthrough", "--out", out, *words) == 0
    open_input(str(out))
    assert any(action.name.endswith(" passthrough") for action in bpy.data.actions)


def test_a_cycle_is_played_as_often_as_asked(scene, tmp_path, capsys):
    report = tmp_path / "walk.json"
    assert run("simulate", "walk", "--cycles", 3, "--method", "passthrough", "--report", report) == 0
    once = read_rig(armature(), action=bpy.data.actions["walk"]).clip
    thrice = read_rig(armature()).clip
    assert len(thrice) == 3 * (len(once) - 1) + 1
    assert json.loads(report.read_text())["duration_s"] == pytest.approx(3 * once.duration_s)
    assert run("simulate", "kick", "--cycles", 2, "--method", "passthrough") == 1
    assert "is not a cycle" in capsys.readouterr().err


def test_simulate_the_open_scene(scene, tmp_path):
    wave(arm("Hero"), "Walk")
    arm("Other")
    assert run("simulate", "--armature", "Hero", "--action", "Walk", "--method", "passthrough") == 0
    assert bpy.data.objects["Hero"].animation_data.action.name == "Walk passthrough"


def test_a_blend_is_not_changed_by_simulating_it(scene, tmp_path):
    path = tmp_path / "scène de marche.blend"
    wave(arm("Hero"), "Walk")
    save_blend(path)
    before = path.read_bytes()
    assert run("simulate", path, "--method", "passthrough", "--frames", "3:15", "--place", "nla") == 0
    assert path.read_bytes() == before
    strips = [s for t in armature().animation_data.nla_tracks if not t.mute for s in t.strips]
    assert [(s.frame_start, s.frame_end) for s in strips] == [(3, 15)]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["simulate", "wlak"], 1, "'wlak' is neither a file"),
        (["simulate", "walk", "--method", "magic"], 1, "There is no method 'magic'. Choose one of: passthrough"),
        (["simulate", "walk", "--method", "graph_bake"], 1, "'graph_bake' needs skills, not a clip"),
        (["simulate", "walk", "--method", "passthrough", "--set", "colour=red"], 1, "There is no setting 'colour'"),
        (["simulate", "walk", "--method", "passthrough", "--set", "pause_s=-1"], 1, "'pause_s' is -1"),
        (["simulate", "walk", "--method", "passthrough", "--engine", "havok"], 1, "no engine 'havok'"),
        (["simulate", "walk", "--scale", "-2"], 1, "The scale is -2.0"),
        (["simulate", "walk", "--fps", "0"], 1, "The frame rate is 0.0"),
        (["simulate", "walk", "--place", "moon"], 1, "There is no place 'moon'"),
        (["simulate", "walk", "--out", "walk.fbx"], 1, "'walk.fbx' has the wrong ending"),
        (["simulate", "walk", "--frames", "12"], 2, "write A:B"),
        (["simulate", "walk", "--blend", "0.2"], 1, "nothing to blend with"),
        (["simulate", "walk", "--frames", "2:9", "--blend", "-1"], 1, "The blend lasts"),
        (["simulate", "walk", "--frames", "90:99", "--blend", "0.2"], 1, "nothing of 'walk' in them"),
        (["simulate", "walk", "--method", "passthrough", "--armature", "Hero"], 1, "There is no armature 'Hero'"),
        (["simulate", "walk", "--method", "passthrough", "--frames", "3:3"], 1, "only one frame"),
        (["simulate"], 1, "There is nothing to simulate"),
        (["bench", "nothing"], 1, "There is no benchmark 'nothing'"),
        (["jobs", "show", "nothing"], 1, "There is no job 'nothing'"),
        (["dance"], 2, "invalid choice: 'dance'"),
    ],
)
def test_errors_are_one_line_with_a_code(scene, capsys, words, code, said):
    assert run(*words) == code
    told = capsys.readouterr().err
    assert said in told
    assert code == 2 or len(told.strip().splitlines()) == 1


def test_an_output_that_cannot_be_written_is_found_before_the_work(scene, tmp_path, capsys, jobs_folder):
    (tmp_path / "file").write_text("")
    assert run("simulate", "walk", "--out", tmp_path / "file" / "x.blend") == 1
    assert "Cannot" in capsys.readouterr().err
    assert not jobs_folder.exists()


def test_every_verb_has_help(scene, capsys):
    for words in ([], ["demo"], ["simulate"], ["clips"], ["jobs"], ["bench"]):
        assert run(*words, "--help") == 0
        assert "usage" in capsys.readouterr().out


def test_clips_lists_the_stock(scene, capsys):
    assert run("clips", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert len(listed) >= 15 and {"walk", "backflip"} <= {clip["name"] for clip in listed}
    assert run("clips") == 0
    assert "walk" in capsys.readouterr().out


def test_jobs_are_listed_shown_and_cleaned(scene, capsys):
    assert run("simulate", "walk", "--method", "passthrough") == 0
    capsys.readouterr()
    assert run("jobs", "list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["state"] == "done" and row["title"] == "walk"
    assert run("jobs", "show", row["id"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["status"] == "done"
    assert run("jobs", "clean", "--older-than", 0) == 0
    capsys.readouterr()
    assert run("jobs") == 0
    assert "No jobs" in capsys.readouterr().out


def test_a_failure_is_reported(scene, tmp_path, capsys, monkeypatch):
    report = tmp_path / "report.json"
    monkeypatch.setenv("SINEW_PYTHON", str(tmp_path / "no-python"))
    assert run("simulate", "walk", "--method", "passthrough", "--report", report) == 1
    assert "no-python" in capsys.readouterr().err


def test_ctrl_c_cancels_cleanly_and_the_same_command_goes_on(scene, tmp_path, command):
    folder, report = tmp_path / "job folder", tmp_path / "r.json"
    words = [*command, "walk", "--method", "passthrough", "--set", "pause_s=0.05", "--set", "chunk_frames=1"]
    words += ["--job-dir", str(folder), "--report", str(report)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (folder.is_dir() and (folder / "spec.json").exists() and jobs.open_job(folder).status().step > 3):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "Traceback" not in said
    assert "cancelled; to go on: run the same command again" in said  # which finds the job in its folder
    assert json.loads(report.read_text())["status"] == "cancelled"
    status = jobs.open_job(folder).status()
    assert status.state == "cancelled" and 0 < status.step < status.total
    again = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 0, again.stderr
    told = json.loads(report.read_text())
    assert told["status"] == "done" and told["runs"] == 2


def test_the_command_line_and_the_bridge_make_the_same_action(scene):
    open_input("kick")
    request = requests.Request(armature="", method="passthrough")
    job = requests.create_job(request, requests.read(request))
    jobs.wait(job, jobs.launch(job))
    requests.collect(job)
    mine = read_rig(armature()).clip
    assert run("simulate", "kick", "--method", "passthrough") == 0
    theirs = read_rig(armature()).clip
    assert np.array_equal(mine.local_quat_wxyz, theirs.local_quat_wxyz)
    assert np.array_equal(mine.local_pos, theirs.local_pos)


def test_simulated_frames_are_blended_into_the_whole_action(scene, tmp_path):
    out, report = tmp_path / "part.blend", tmp_path / "part.json"
    words = ("--frames", "10:26", "--blend", "0.1", "--method", "passthrough", "--out", out, "--report", report)
    assert run("simulate", "walk", *words) == 0
    told = json.loads(report.read_text())
    source = read_rig(armature(), action=bpy.data.actions["walk"]).clip
    assert told["range"]["first_s"] == pytest.approx(9 / source.fps)
    assert told["range"]["last_s"] == pytest.approx(25 / source.fps)
    assert told["duration_s"] == pytest.approx(source.duration_s)
    assert armature().animation_data.action.frame_range[:] == bpy.data.actions["walk"].frame_range[:]


def test_only_some_bones_are_simulated(scene, tmp_path):
    report = tmp_path / "part.json"
    assert run("simulate", "walk", "--bones", "left_arm", "--muscle", "0", "--report", report) == 0
    assert json.loads(report.read_text())["part"]["simulated"] == ["upper_arm.L", "forearm.L"]
    obj = armature()
    taken, source = (read_rig(obj, action=action).clip for action in (None, bpy.data.actions["walk"]))
    apart = np.linalg.norm(taken.world()[0] - source.world()[0], axis=-1).max(axis=0)
    moved = {name for name, far in zip(source.skeleton.names, apart, strict=True) if far > 1e-4}
    assert moved == {"forearm.L"}  # the upper arm turns, and its head stays in the shoulder


@pytest.mark.parametrize(
    ("words", "called"),
    [
        (["blender", "-b", "shot.blend", "-c", "sinew", "takes"], True),
        (["blender", "--command", "sinew", "clips"], True),
        (["blender", "-b", "sinew.blend", "-c", "extension", "list"], False),
        (["blender", "sinew"], False),
    ],
)
def test_a_blender_that_was_started_for_a_verb_is_known(words, called):
    assert is_command(words) is called
