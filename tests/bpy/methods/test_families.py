# SPDX-License-Identifier: GPL-3.0-or-later
"""A family of methods in Blender: what it declares becomes properties, operators, a panel, jobs and a verb."""

import json

import bpy
import numpy as np
import pytest

from directed_walks import tagged
from little_improvisers import make_improviser
from sinew.bridge.cli import main
from sinew.bridge.jobs import monitor
from sinew.bridge.learned.learned_file import learned_file
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.rig.rig_reader import read_rig
from sinew.core import jobs
from sinew.core.control.character import BodyChoices, build_plain_body
from sinew.core.control.graph.model.io import save_graph
from sinew.core.control.improvise.learned_file import IMPROVISER
from sinew.core.control.medley.methods import KIND, MEDLEY
from sinew.core.control.respond.learned_file import RESPONDER
from sinew.core.control.tracking.library_building import prepare_clip
from sinew.core.control.tracking.library_files import StoredLibrary, store_library
from sinew.core.control.tracking_policy.learned_file import DIRECTED
from sinew.core.motion import Clip
from sinew.core.motion.library import make_library
from sinew.panels.families import EXAMPLES

from ...stock_clips import needs_stock
from ..helpers.graphs import unlearned
from ..helpers.interface import animation, hero, new_actions, refusal, tick_to_end
from ..helpers.operator_steps import one_step
from ..helpers.preparing_clicks import click, prepare

FILES = learned_file("medley")


@pytest.fixture
def walker(addon):
    """'Hero' with two Actions of its own."""
    obj = hero()
    action = obj.animation_data.action.copy()
    action.name = "Nod"
    return obj


def learned(obj, tmp_path):
    """The armature with a medley of its Actions, by the button; gives its file."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert bpy.ops.sinew.medley_learn("EXEC_DEFAULT", True) == {"FINISHED"}
    assert tick_to_end().state == "done"
    return FILES.path_of(bpy.data.objects["Hero"])


def test_from_actions_to_a_learned_file_and_from_it_to_a_take(walker, tmp_path):
    path = learned(walker, tmp_path)
    obj = bpy.data.objects["Hero"]
    assert path == tmp_path / "sinew" / "Hero.medley.npz" and obj.sinew_medley.file == "//sinew/Hero.medley.npz"
    assert FILES.read(obj).model.names == ("Nod", "Wave")
    assert "2 clips" in FILES.view_of(obj).sentences[0]
    bpy.context.scene.sinew.methods.medley_bake.clips = 3
    before = set(bpy.data.actions)
    assert bpy.ops.sinew.medley_bake("EXEC_DEFAULT", True) == {"FINISHED"}
    assert tick_to_end().state == "done"
    (action,) = set(bpy.data.actions) - before
    length = action.frame_range[1] - action.frame_range[0]
    assert length == pytest.approx(3 * 20, abs=2) and action.name == "Hero medley"
    assert bpy.data.objects["Hero"].sinew_takes[-1].action == action


def test_a_click_makes_the_job_that_a_script_makes(walker, tmp_path, monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    walker.sinew_medley.actions = "W*"
    assert bpy.ops.sinew.medley_learn("EXEC_DEFAULT", True) == {"FINISHED"}
    click("medley_learn")
    assert prepare() > 1
    one, other = jobs.all_jobs()
    assert one.spec.content == other.spec.content
    assert one.attachment("library")[1]["clips"] == ["Wave"]


def test_the_same_verbs_on_the_command_line(walker, tmp_path, capsys):
    path, out = tmp_path / "scene.blend", tmp_path / "mine.medley.npz"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    words = ["medley", "learn", str(path), "--action", "Wave", "--out", str(out), "--report", str(tmp_path / "a.json")]
    assert main(words) == 0
    assert main(["medley", "show", str(out)]) == 0
    assert "1 clips" in capsys.readouterr().out
    saved = tmp_path / "baked.blend"
    assert main(["medley", "bake", str(out), str(path), "--set", "clips=2", "--out", str(saved)]) == 0
    assert saved.is_file() and json.loads((tmp_path / "a.json").read_text())["method"] == "medley_learn"
    assert main(["medley", "bake", str(tmp_path / "none.npz"), str(path)]) == 1
    assert "There is no medley in" in capsys.readouterr().err


def test_its_panel_is_drawn_for_developers_alone(walker, tmp_path, monkeypatch):
    panel, bpy.context.scene.sinew.what = bpy.types.SINEW_PT_medley, "ITSELF"
    monkeypatch.delenv(EXAMPLES, raising=False)
    assert not panel.poll(bpy.context)
    monkeypatch.setenv(EXAMPLES, "1")
    assert panel.poll(bpy.context)


def test_what_cannot_be_is_told_in_the_panel_and_makes_no_job(walker, tmp_path):
    walker.sinew_medley.actions = "Dance"
    with refusal("No Action of 'Hero' is called 'Dance'"):
        bpy.ops.sinew.medley_learn("EXEC_DEFAULT", True)
    assert "Dance" in str(get_adapter("medley").problem_of("Hero"))
    path = tmp_path / "x.npz"
    path.write_bytes(b"nothing")
    walker.sinew_cues.add().deed = "kick"
    for family, verb in (
        ("medley", "medley_bake"),
        ("graph", "graph_test"),
        ("bounds", "bounds_test"),
        ("direct", "direct_train"),
        ("direct", "direct_bake"),
        ("direct", "direct_test"),
        ("respond", "respond_train"),
        ("respond", "respond_bake"),
        ("respond", "respond_test"),
        ("improvise", "improvise_train"),
        ("improvise", "improvise_bake"),
        ("improvise", "improvise_test"),
        ("improvise", "improvise_task"),
    ):
        group = getattr(walker, f"sinew_{family}")
        group.file = str(path)
        assert str(path) in get_adapter(family).file.why_none(walker)
        with refusal(str(path)):
            getattr(bpy.ops.sinew, verb)("EXEC_DEFAULT", True)
    assert jobs.all_jobs() == []


@needs_stock
def test_each_verb_is_one_step(addon, root, tmp_path, monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    obj, graph = unlearned("walk")
    (tmp_path / "far").mkdir()
    clip = read_rig(obj).clip
    arrays, meta = make_library([clip]).to_arrays()
    MEDLEY.write_content(tmp_path / "far" / "a.medley.npz", arrays, {**meta, "kind": KIND})
    save_graph(tmp_path / "far" / "a.graph.npz", graph)
    obj.sinew_medley.file = str(tmp_path / "far" / "a.medley.npz")
    long = np.resize(np.arange(len(clip)), 240)  # round and round: a second and more at any rate
    walk = Clip(clip.skeleton, 60.0, clip.local_pos[long], clip.local_quat_wxyz[long], "walk")
    DIRECTED.write_content(tmp_path / "far" / "a.library.npz", *make_library([walk]).to_arrays())
    obj.sinew_direct.file = str(tmp_path / "far" / "a.library.npz")
    body = build_plain_body(walk, BodyChoices())
    stored = StoredLibrary(body, (prepare_clip(body, tagged(walk, "walk")),), mirror=False)
    RESPONDER.write_content(tmp_path / "far" / "b.library.npz", *store_library(stored))
    obj.sinew_respond.file = str(tmp_path / "far" / "b.library.npz")
    IMPROVISER.write_content(tmp_path / "far" / "a.improvise.npz", *make_improviser(body, walk).to_content())
    obj.sinew_improvise.file = str(tmp_path / "far" / "a.improvise.npz")
    cue = obj.sinew_cues.add()
    cue.deed, cue.frame = "walk", 100
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    obj.sinew_direct.way, obj.sinew_direct.target = "OBJECT", target
    obj.sinew_graph.file = str(tmp_path / "far" / "a.graph.npz")
    obj.sinew_bounds.file = str(next((root / "tests" / "data" / "before").rglob("*.safetensors")))
    (tmp_path / "here").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "here" / "scene.blend"))
    bpy.ops.ed.undo_push(message="Original")
    for verb in ("medley_learn", "medley_bake", "medley_bring_along", "graph_test", "bounds_test"):
        one_step(verb)
    for verb in ("direct_bake", "direct_bring_along"):
        one_step(verb)
    for verb in ("respond_train", "respond_bake", "respond_test", "respond_bring_along"):
        one_step(verb)
    for verb in ("improvise_bake", "improvise_test", "improvise_task", "improvise_bring_along"):
        one_step(verb)
    bpy.context.scene.sinew.armature.sinew_direct.file = str(tmp_path / "far" / "b.library.npz")
    bpy.ops.ed.undo_push(message="Library")
    one_step("improvise_train")


@needs_stock
def test_what_was_learned_is_tested_and_the_figures_stand_with_the_job(addon, tmp_path):
    obj, graph = unlearned("walk")
    save_graph(tmp_path / "a.graph.npz", graph)
    obj.sinew_graph.file = str(tmp_path / "a.graph.npz")
    settings = bpy.context.scene.sinew.methods.graph_test
    settings.cycles, settings.seconds = 1, 1.0
    before = animation()
    assert bpy.ops.sinew.graph_test("EXEC_DEFAULT", True) == {"FINISHED"}
    view = tick_to_end()
    assert view.state == "done" and any("walk takes a push of" in note for note in view.notes)
    report = monitor.job_of(view.id).report()
    assert set(report["test"]["skills"]["walk"]) >= {"push_n", "endurance"} and report["fell"] is None
    assert new_actions(before) == [] and len(bpy.data.objects["Mannequin"].sinew_takes) == 0
