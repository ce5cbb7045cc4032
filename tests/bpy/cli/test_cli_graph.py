# SPDX-License-Identifier: GPL-3.0-or-later
"""``graph`` as a user types it: learn, show, bake and test, and what is refused before an hour is spent."""

import functools
import json
from dataclasses import replace

import bpy
import numpy as np
import pytest

from sinew.bench.heavy_scenes import unlearned_graph
from sinew.bridge import cli
from sinew.bridge.importing.importers import open_input
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core.control.graph import learn_method
from sinew.core.control.graph.learning.progress import LearningBudget
from sinew.core.control.graph.model.control_graph import ControlGraph
from sinew.core.control.graph.model.io import load_graph, save_graph
from sinew.core.jobs import worker
from sinew.core.motion.io.npz import save_clip

from ...stock_clips import needs_stock
from ..helpers.skilled_mannequin import mannequin

pytestmark = needs_stock


def run(*words):
    return cli.main(["graph", *(str(word) for word in words)])


@functools.cache
def both() -> ControlGraph:
    """A graph of walk and run that was never learned."""
    obj = mannequin("walk", "run")
    bpy.ops.sinew.graph_skill_add_all()
    bpy.ops.sinew.graph_propose()
    return unlearned_graph(obj, {"curve": [{"lesson": "walk", "push_n": 120.0, "change": 0.01}]})


@pytest.fixture
def graph_file(addon, tmp_path):
    """The same in a file, with Sinew registered."""
    path = tmp_path / "both.npz"
    save_graph(path, both())
    return path


@pytest.fixture
def hasty(monkeypatch):
    """Learn at once, in this process, and hardly anything."""
    monkeypatch.setitem(
        learn_method._BUDGETS,
        "draft",
        LearningBudget(copies=64, population_size=8, examples=50, iterations=1, es_turns=0),
    )

    def at_once(job):
        worker._run(job)
        return job.status()

    monkeypatch.setattr("sinew.bridge.cli.running.run_to_end", at_once)


def test_skills_are_learned_and_the_graph_is_shown_baked_and_tested(scene, hasty, tmp_path, capsys):
    out, report, picture = (tmp_path / name for name in ("walk.npz", "walk.json", "walk.png"))
    words = ("walk", "--set", "quality=draft", "--seed", 3, "--out", out, "--report", report, "--picture", picture)
    assert run("learn", *words) == 0
    said = capsys.readouterr()
    assert "walk.npz: 1 skill learned" in said.out and "Push" in said.out and "walk: 1." in said.err
    told = json.loads(report.read_text())
    assert (told["status"], told["method"], told["seed"], told["inputs"]) == ("done", "graph_learn", 3, ["walk"])
    assert picture.read_bytes().startswith(b"\x89PNG")
    graph = load_graph(out)
    assert [chain.name for chain in graph.skills] == ["walk"] and graph.structure.chains[0].gait
    assert np.abs(graph.policies.gains).max() > 0.0
    assert run("show", out) == 0
    assert "walk" in capsys.readouterr().out
    assert run("test", out, "--seconds", 2, "--cycles", 1) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["skills"]["walk"]) >= {"push_n", "endurance"} and told["walk"]["pushes"] == 0


def test_a_bake_makes_a_character_of_its_own(graph_file, tmp_path, capsys):
    blend, report = tmp_path / "walk.blend", tmp_path / "walk.json"
    words = ("--seconds", 1.5, "--push", "80@0.5:left", "--out", blend, "--report", report, "--frame", 11)
    assert run("bake", graph_file, "--mode", "pushed", "--skills", "walk", *words) == 0
    said = capsys.readouterr().out
    assert "Action 'Mannequin pushed' made by graph_bake" in said and "its skills" in said
    told = json.loads(report.read_text())
    assert (told["status"], told["graph"], told["action"]) == ("done", str(graph_file), "Mannequin pushed")
    open_input(str(blend))
    obj = bpy.data.objects["Mannequin"]
    motion = read_rig(obj)
    assert motion.frame_start == 11 and motion.clip.duration_s == pytest.approx(1.5, abs=0.04)
    assert len(obj.sinew_takes) == 1


def test_two_characters_face_each_other(graph_file, tmp_path, capsys):
    assert run("bake", graph_file, "--mode", "meet", "--seconds", 1, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["armature"] for one in told["characters"]] == ["Mannequin", "Mannequin.001"]
    motions = [read_rig(bpy.data.objects[one["armature"]]).clip.world()[0][:, 0, :2] for one in told["characters"]]
    apart = np.linalg.norm(motions[0] - motions[1], axis=-1)
    assert apart[0] == pytest.approx(3.0, abs=0.2) and apart[-1] < apart[0] - 0.5


def test_a_bake_goes_into_a_scene_of_its_users(graph_file, tmp_path, capsys):
    obj = mannequin("walk")
    obj.location.x = 4.0
    scene = tmp_path / "mine.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    words = ("--mode", "path", "--points", "4,0 4,5", "--seconds", 1, "--place", "nla")
    assert run("bake", graph_file, *words) == 0  # the open one
    assert bpy.data.objects["Mannequin"].location.x == 4.0
    assert run("bake", graph_file, scene, *words) == 0
    assert "'Mannequin path'" in capsys.readouterr().out
    obj = bpy.data.objects["Mannequin"]
    assert obj.animation_data.nla_tracks[-1].strips[0].action.name == "Mannequin path"
    assert read_rig(obj, action=bpy.data.actions["Mannequin path"]).clip.world()[0][0, 0, 0] == pytest.approx(
        4, abs=0.3
    )


def test_what_was_collected_in_a_blend_is_learned(addon, hasty, tmp_path, monkeypatch, capsys):
    obj = mannequin("walk", "run", "kick")
    bpy.ops.sinew.graph_skill_add_all()
    obj.sinew_skill_index = 0
    bpy.ops.sinew.graph_skill_remove()  # the kick
    bpy.ops.sinew.graph_propose()
    obj.sinew_transitions[0].leave_frame += 3
    expected = [(way.source, way.target) for way in obj.sinew_transitions]
    scene = tmp_path / "skills.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    made = []

    def stop(job):
        made.append(job)
        raise KeyboardInterrupt

    monkeypatch.setattr("sinew.bridge.cli.running.run_to_end", stop)
    assert run("learn", scene, "--gait", "walk=no", "--out", tmp_path / "g.npz") == 130
    meta = made[0].attachment("graph")[1]
    assert [(one["name"], one["gait"]) for one in meta["skills"]] == [("run", True), ("walk", False)]
    assert [(way["source"], way["target"]) for way in meta["transitions"]] == expected
    words = ("--action", "kick", "--action", "walk", "--transition", "kick@1.5>walk@0.2", "--propose")
    assert run("learn", scene, *words, "--out", tmp_path / "g.npz") == 130
    meta = made[1].attachment("graph")[1]
    assert [one["name"] for one in meta["skills"]] == ["kick", "walk"]
    assert meta["transitions"][0] == {"source": "kick", "leave_s": 1.5, "target": "walk", "enter_s": 0.2}
    assert len(meta["transitions"]) > 1
    capsys.readouterr()


def test_show_prints_a_table_or_json(graph_file, capsys):
    assert run("show", graph_file) == 0
    said = capsys.readouterr().out
    assert "2 skills of a body of" in said and "Push 120 N" in said and "walk@" in said
    assert run("show", graph_file, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told["skills"]] == ["run", "walk"]
    assert told["skills"][1]["push_n"] == 120.0 and len(told["transitions"]) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["learn", "--out", "{tmp}/x.npz"], "nothing to learn"),
        (["learn", "walk"], "no place for the graph"),
        (["learn", "walk", "--out", "x.blend"], "wrong ending"),
        (["learn", "walk", "--out", "{tmp}/x.npz", "--set", "speed=3"], "no setting 'speed'"),
        (["learn", "walk", "--out", "{tmp}/x.npz", "--kind", "walk=often"], "of which kind"),
        (["learn", "walk", "--out", "{tmp}/x.npz", "--kind", "run=once"], "no skill 'run'"),
        (["learn", "walk", "--out", "{tmp}/x.npz", "--transition", "walk>run"], "is no transition"),
        (["learn", "walk", "walk", "--out", "{tmp}/x.npz"], "Two inputs are called 'walk'"),
        (["learn", "walk", "nobody", "--out", "{tmp}/x.npz"], "neither a file"),
        (["learn", "kick", "--out", "{tmp}/x.npz"], "Nothing leads out of 'kick'"),
        (["learn", "getup_faceup", "--out", "{tmp}/x.npz"], "All skills are get-ups"),
        (["learn", "kick", "--kind", "kick=cycle", "--out", "{tmp}/x.npz"], "'kick' is no cycle"),
        (["learn", "walk", "run", "--transition", "walk@0.1>run@0.1", "--out", "{tmp}/x.npz"], "no way to 'walk'"),
        (["learn", "walk", "--action", "walk", "--out", "{tmp}/x.npz"], "about a .blend"),
        (["learn", "a.blend", "walk", "--out", "{tmp}/x.npz"], "not alone"),
        (["learn", "walk", "--begin-with", "{tmp}/no.npz", "--out", "{tmp}/x.npz"], "There is no graph in"),
        (["show", "{tmp}/no.npz"], "There is no graph in"),
        (["bake", "{tmp}/no.npz"], "There is no graph in"),
        (["bake", "{graph}", "--mode", "fly"], "no mode 'fly'"),
        (["bake", "{graph}", "--seconds", "0"], "no length"),
        (["bake", "{graph}", "--mode", "path"], "No curve is chosen"),
        (["bake", "{graph}", "--mode", "path", "--points", "1,2"], "single point"),
        (["bake", "{graph}", "--mode", "path", "--points", "a b"], "is no path"),
        (["bake", "{graph}", "--mode", "pushed"], "Nothing pushes"),
        (["bake", "{graph}", "--push", "hard"], "is no push"),
        (["bake", "{graph}", "--push", "10@1:above"], "is no push"),
        (["bake", "{graph}", "--mode", "sequence"], "No skills are named"),
        (["bake", "{graph}", "--characters", "99"], "no company"),
        (["bake", "{graph}", "--place", "moon"], "no place 'moon'"),
        (["test", "{graph}", "--only", "luck"], "no test 'luck'"),
        (["test", "{graph}", "--skills", "dance"], "no skill 'dance'"),
        (["test", "{graph}", "--cycles", "0"], "no length"),
    ],
)
def test_wrong_words_are_one_line_and_a_failure(graph_file, tmp_path, capsys, words, told):
    filled = [word.format(tmp=tmp_path, graph=graph_file) for word in words]
    assert run(*filled) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("sinew: ") and told in said and "Traceback" not in said


def test_two_skills_with_different_skeletons_are_refused_by_name(scene, tmp_path, capsys):
    open_input("walk")
    clip = read_rig(next(one for one in bpy.context.scene.objects if one.type == "ARMATURE")).clip
    bigger = replace(clip.skeleton, rest_pos=clip.skeleton.rest_pos * 1.2)
    save_clip(tmp_path / "big.npz", replace(clip, skeleton=bigger))
    assert run("learn", "walk", tmp_path / "big.npz", "--out", tmp_path / "x.npz") == 1
    said = capsys.readouterr().err
    assert "'walk' and 'big' have different skeletons" in said and "rests in another place" in said


def test_a_file_cut_in_half_or_of_a_newer_sinew_is_refused_by_name(graph_file, capsys):
    whole = graph_file.read_bytes()
    graph_file.write_bytes(whole[: len(whole) // 2])
    for words in (("show", graph_file), ("bake", graph_file), ("test", graph_file)):
        assert run(*words) == 1
        said = capsys.readouterr().err
        assert "both.npz" in said and "whole" in said
