# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes on a farm: tasks that can be run again, merged bit for bit as if made at once, and jobs that farms read."""

import json
import shutil
import signal
import subprocess
import sys
import time

import bpy
import pytest

from farm_tools import command_words, compile_flamenco, needs_openjd, needs_quickjs, run_openjd
from sinew.bridge import cli
from sinew.bridge.api.registering import registered
from sinew.bridge.importing.importers import open_input
from sinew.core import jobs

from ..helpers.blender_program import write_program
from ..helpers.rigs import digest

ODD = "He\"ro\n$(touch pwned) {{Param.Seed}} {blender} '%7B"
# Frames enough for takes to differ, and few enough to be quick.
QUICK = ("--set", "quality=draft", "--frames", "1:12")


def run(*words):
    return cli.main([str(word) for word in words])


def save_shot(path, name="Mannequin"):
    """The stock walk on the mannequin, with a camera and little to render, as a file."""
    open_input("walk")
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x, scene.render.resolution_y = 32, 24
    next(obj for obj in scene.objects if obj.type == "ARMATURE").name = name
    bpy.data.actions["walk"].name = f"{name} walk"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)
    return path


def contents(path):
    """What a file's takes are: every row of every armature, and each Action's keys to the last bit."""
    with registered():
        open_input(str(path))
        rows = [
            (obj.name, row.action.name, row.label, row.variation, row.source.name, row.fell, row.error_m)
            for obj in bpy.data.objects
            for row in obj.sinew_takes
        ]
    return rows, {action.name: digest(action) for action in bpy.data.actions}


@pytest.fixture
def shot(scene, tmp_path):
    return save_shot(tmp_path / "shot.blend")


def export(shot, out, form, *words, takes=2):
    return run("farm", "export", shot, "--format", form, "--out", out, "--takes", takes, *words)


def test_takes_that_were_made_apart_are_those_made_at_once(shot, tmp_path, capsys):
    whole, results, merged = tmp_path / "whole.blend", tmp_path / "results", tmp_path / "merged.blend"
    assert run("simulate", shot, *QUICK, "--variations", 3, "--seed", 4, "--push", "50:200", "--out", whole) == 0
    options = ("--scene", shot, "--results", results, *QUICK, "--takes", 3, "--seed", 4, "--push", "50:200")
    for number in (3, 1, 2):
        assert run("farm", "take", number, *options) == 0
    assert run("farm", "merge", "--scene", shot, "--into", merged, "--takes", 3, results / "takes") == 0
    assert "3 takes merged" in capsys.readouterr().out
    expected = contents(whole)
    assert len(expected[0]) == 3 and contents(merged) == expected
    keys = [keys for name, keys in expected[1].items() if name != "Mannequin walk"]
    assert len(keys) == 3 and keys[0] != keys[1] != keys[2]
    first = json.loads((results / "takes" / "2.json").read_text())
    assert first["status"] == "done" and [row["variation"] for row in first["variations"]] == [2]
    # A .blend of each, alone.
    assert [row[1] for row in contents(results / "takes" / "2.blend")[0]] == [expected[0][1][1]]


def test_a_task_that_is_run_again_makes_the_same_and_touches_nothing_else(shot, tmp_path):
    results = tmp_path / "results"
    options = ("--scene", shot, "--results", results, "--method", "passthrough", "--frames", "1:10", "--takes", 2)
    assert [run("farm", "take", number, *options) for number in (1, 2)] == [0, 0]
    before = contents(results / "takes" / "2.blend")
    first = [results / "takes" / "1.blend", results / "takes" / "1.json", *(results / "takes" / "1").rglob("*")]
    others = {path: path.read_bytes() for path in first if path.is_file()}
    shutil.rmtree(results / "takes" / "2")
    (results / "takes" / "2.blend").write_bytes(b"torn")
    assert run("farm", "take", 2, *options) == 0
    assert contents(results / "takes" / "2.blend") == before
    assert run("farm", "take", 2, *options) == 0  # done: it is only baked again
    assert contents(results / "takes" / "2.blend") == before
    assert others and others == {path: path.read_bytes() for path in others}
    for _ in range(2):
        assert run("farm", "merge", "--scene", shot, "--into", tmp_path / "all.blend", results / "takes") == 0
        assert len(contents(tmp_path / "all.blend")[0]) == 2
    # Into what has them already: nothing is doubled.
    assert (
        run("farm", "merge", "--scene", tmp_path / "all.blend", "--into", tmp_path / "all.blend", results / "takes")
        == 0
    )
    assert len(contents(tmp_path / "all.blend")[0]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows asks no process to end")
def test_a_task_that_is_asked_to_end_takes_its_worker_along_and_goes_on_later(shot, tmp_path):
    results, program = tmp_path / "results", write_program(tmp_path / "blender")
    words = ["farm", "take", "1", "--takes=1", f"--results={results}", "--set=quality=draft"]
    command = [program, "-b", shot, "-c", "sinew", *words]
    task = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    events = results / "takes" / "1" / "events.jsonl"
    while not (events.exists() and '"progress"' in events.read_text()):
        assert task.poll() is None, task.stderr.read()
        time.sleep(0.05)
    task.send_signal(signal.SIGTERM)
    assert task.wait(60) == cli.CANCELLED and "cancelled" in task.stderr.read()
    job = jobs.open_job(results / "takes" / "1")
    assert job.status().state == "cancelled" and not job.status().alive
    assert not (results / "takes" / "1.blend").exists()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert job.report()["runs"] == 2 and (results / "takes" / "1.blend").exists()


@pytest.mark.parametrize("place", ["nla", "copy", "controls"])
def test_takes_are_merged_wherever_they_go(shot, tmp_path, place):
    whole, results, merged = tmp_path / "whole.blend", tmp_path / "results", tmp_path / "merged.blend"
    options = ("--method", "passthrough", "--frames", "1:10", "--place", place)
    assert run("simulate", shot, *options, "--variations", 2, "--out", whole) == 0
    for number in (1, 2):
        assert run("farm", "take", number, "--scene", shot, "--results", results, *options, "--takes", 2) == 0
    assert run("farm", "merge", "--scene", shot, "--into", merged, results / "takes") == 0
    rows, keys = contents(whole)
    assert contents(merged) == (rows, keys)
    assert len(rows) == (4 if place == "copy" else 2)  # a copy lists its takes as well


def test_a_take_of_a_changed_scene_replaces_the_old_one(shot, tmp_path, capsys):
    results = tmp_path / "results"
    options = ("--scene", shot, "--results", results, "--method", "passthrough", "--takes", 1)
    assert run("farm", "take", 1, *options, "--frames", "1:10") == 0
    assert run("farm", "take", 1, *options, "--frames", "1:20") == 0
    with registered():
        open_input(str(results / "takes" / "1.blend"))
        assert [tuple(row.action.frame_range) for obj in bpy.data.objects for row in obj.sinew_takes] == [(1, 20)]
    words = ("simulate", shot, "--method", "passthrough", "--variations", 1, "--only", 1)
    assert run(*words, "--job-dir", results / "takes" / "1") == 1
    assert "holds another job" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("take", 0), "no take 0 of 2"),
        (("take", 3), "no take 3 of 2"),
        (("take", 1, "--seed", -1), "The seed is -1"),
        (("take", 1, "--armature", "Nobody"), "no armature 'Nobody'"),
        (("take", 1, "--encoded", "--armature", "%ff"), "'%ff', which is no text"),
        (("take", 1, "--encoded", "--armature", "%00"), "is no text"),
        (("take", 1, "--set", "quality=superb"), "quality"),
    ],
)
def test_a_take_that_cannot_be_made(shot, tmp_path, capsys, words, said):
    options = ("--scene", shot, "--results", tmp_path / "results", "--takes", 2)
    assert run("farm", *words, *options) == 1
    assert said in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.blend.part")) and not (tmp_path / "results" / "takes" / "1.blend").exists()


def test_what_does_not_fit_is_not_merged(shot, tmp_path, capsys):
    results, into = tmp_path / "results", tmp_path / "all.blend"
    options = ("--scene", shot, "--results", results, "--method", "passthrough", "--frames", "1:10", "--takes", 3)
    assert run("farm", "take", 1, *options) == 0

    def refused(*words, scene=shot):
        capsys.readouterr()
        assert run("farm", "merge", "--scene", scene, "--into", into, *words) == 1
        assert not into.exists()
        return capsys.readouterr().err

    assert "lacks take 2, 3 of 3. Run that task again" in refused("--takes", 3, results / "takes")
    assert "is no take" in refused(tmp_path / "nothing")
    assert "has no takes in it" in refused(tmp_path)
    assert "0 takes" in refused("--takes", 0, results / "takes")
    other = save_shot(tmp_path / "other.blend", name="Somebody")
    told = refused(results / "takes" / "1.blend", scene=other)
    assert "does not fit: There is no armature 'Mannequin'" in told and "'Somebody'" in told
    (results / "takes" / "1" / "result" / "take.npz").unlink()
    assert "takes/1" in refused(results / "takes")
    into = tmp_path / "all.txt"
    assert "wrong ending" in refused(results / "takes")


def test_an_export_has_the_scene_as_it_was(shot, tmp_path, capsys):
    for form, name in (("openjd", "template.json"), ("flamenco", "sinew_takes.js")):
        out = tmp_path / form
        assert export(shot, out, form, "--render", "1-3", "--set", "quality=draft") == 0
        assert sorted(path.name for path in out.iterdir()) == sorted(["scene.blend", name])
        assert name in capsys.readouterr().out
        (out / "results").mkdir()
        assert export(shot, out, form) == 0, "an export may be replaced"
        open_input(str(out / "scene.blend"))
        assert "Mannequin walk" in bpy.data.actions


def rendered(template):
    """(frames, steps) of a template."""
    told = json.loads(template.read_text())
    frames = {one["name"]: one["default"] for one in told["parameterDefinitions"]}.get("RenderFrames", "")
    return frames, [step["name"] for step in told["steps"]]


def test_unless_it_is_said_one_frame_is_rendered_where_there_is_a_camera(scene, tmp_path, capsys):
    words = ("--format", "openjd", "--out", tmp_path / "out", "--method", "passthrough")
    template = tmp_path / "out" / "template.json"
    assert run("farm", "export", "walk", *words) == 0  # whatever simulate takes
    assert rendered(template) == ("1", ["Takes", "Merge", "Render"])
    assert '"default": 20' in template.read_text()
    assert run("farm", "export", "walk", *words, "--render", "none") == 0
    assert rendered(template) == ("", ["Takes", "Merge"])
    bpy.context.scene.camera = None
    bpy.context.scene.frame_current = -5
    assert run("farm", "export", *words, "--variations", 3) == 0  # the open scene
    assert rendered(template) == ("", ["Takes", "Merge"]) and "no camera" in capsys.readouterr().err
    bpy.context.scene.camera = next(obj for obj in bpy.context.scene.objects if obj.type == "CAMERA")
    assert run("farm", "export", *words) == 0
    assert rendered(template)[0] == "0"


@pytest.mark.parametrize("form", ["openjd", "flamenco"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--takes", 0), "0 takes are asked for"),
        (("--takes", 1001), "1001"),
        (("--seed", -1), "The seed is -1"),
        (("--armature", "Nobody"), "no armature 'Nobody'"),
        (("--action", "{{Param.X}}"), "no Action '{{Param.X}}'"),
        (("--set", "quality=superb"), "quality"),
        (("--engine", "warp"), "warp"),
        (("--method", "magic"), "magic"),
        (("--render", "5-1"), "no list of frames"),
        (("--render", "1-1048575"), "no list of frames"),
        (("--push", "much"), "no range of forces"),
        (("--push", "50", "--vary", "bone=nose"), "'nose' has no body that could be pushed"),
        (("--frames", "9:2"), "rames"),
        (("--addon", "a\tb"), "--addon"),
    ],
)
def test_what_no_task_could_do_is_not_exported(shot, tmp_path, capsys, form, words, said):
    assert export(shot, tmp_path / "out", form, *words) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_where_nothing_is_exported_to(shot, tmp_path, capsys):
    def refused(*words):
        capsys.readouterr()
        assert run("farm", "export", *words) == 1
        return capsys.readouterr().err

    out, full = tmp_path / "out", tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("years of work")
    rest = ("--takes", 1, "--out")
    assert "does not exist" in refused(tmp_path / "no.blend", "--format", "openjd", *rest, out)
    assert "'wlak' is neither a file" in refused("wlak", "--format", "openjd", *rest, out)
    assert "holds other files, such as 'thesis.txt'" in refused(shot, "--format", "openjd", *rest, full)
    assert "is no folder" in refused(shot, "--format", "openjd", *rest, full / "thesis.txt")
    assert "'deadline'. Choose one of: openjd, flamenco" in refused(shot, "--format", "deadline", *rest, out)
    assert "braces" in refused(shot, "--format", "flamenco", *rest, tmp_path / "{blender}")
    open_input(str(shot))
    bpy.context.scene.camera = None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "blind.blend"))
    assert "no camera" in refused(tmp_path / "blind.blend", "--format", "openjd", "--render", "1", *rest, out)
    assert list(full.iterdir()) == [full / "thesis.txt"] and not out.exists()


@pytest.fixture
def odd_shot(scene, tmp_path):
    """A shot whose file, armature and Action have names that mean something to shells, templates and scripts."""
    return save_shot(tmp_path / "sh'o\"t $(touch pwned) {{Param.Seed}}.blend", name=ODD)


@needs_openjd
def test_open_job_description_runs_it(odd_shot, tmp_path):
    out, whole = tmp_path / "out", tmp_path / "whole.blend"
    words = (*QUICK, "--armature", ODD, "--action", f"{ODD} walk", "--seed", 7)
    assert (
        export(
            odd_shot, out, "openjd", *words, "--render", "2", "--blender", write_program(tmp_path / "blender"), takes=3
        )
        == 0
    )
    assert run_openjd("check", out / "template.json").returncode == 0
    done = run_openjd("run", out / "template.json", "--step", "Render", "--run-dependencies", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    assert sorted(path.name for path in (out / "results" / "frames").iterdir()) == [f"{n}-0002.png" for n in (1, 2, 3)]
    assert run("simulate", odd_shot, *words, "--variations", 3, "--out", whole) == 0
    assert contents(out / "results" / "takes.blend") == contents(whole)
    assert not list(tmp_path.rglob("pwned"))
    again = run_openjd("run", out / "template.json", "--step", "Takes", "-tp", "Take=2", cwd=tmp_path)
    assert again.returncode == 0, again.stdout[-3000:]


@needs_quickjs
def test_every_command_of_flamencos_job_type_does_its_part(odd_shot, tmp_path):
    out, whole = tmp_path / "out", tmp_path / "whole.blend"
    words = (*QUICK, "--armature", ODD, "--action", f"{ODD} walk", "--seed", 7)
    assert export(odd_shot, out, "flamenco", *words, "--render", "2", takes=3) == 0
    tasks, _ = compile_flamenco((out / "sinew_takes.js").read_text("ascii"), {})
    assert [task["name"] for task in tasks] == [
        *(f"take {n}" for n in (1, 2, 3)),
        "merge",
        *(f"render {n}: 2-2" for n in (1, 2, 3)),
    ]
    variables = {"blender": str(write_program(tmp_path / "blender")), "blenderArgs": "-b -y", "Param.Seed": "HACKED"}
    for task in tasks:
        (command,) = task["commands"]
        done = subprocess.run(
            command_words(command, variables), check=False, capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, f"{task['name']}: {done.stderr[-2000:]}"
    assert sorted(path.name for path in (out / "results" / "frames").iterdir()) == [f"{n}-0002.png" for n in (1, 2, 3)]
    assert run("simulate", odd_shot, *words, "--variations", 3, "--out", whole) == 0
    assert contents(out / "results" / "takes.blend") == contents(whole)
    assert not list(tmp_path.rglob("pwned"))
