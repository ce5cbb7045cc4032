# SPDX-License-Identifier: GPL-3.0-or-later
"""The Skills panel draws every state in the order of work, names only what exists, and says why not."""

import dataclasses

import bpy
import pytest

from sinew.bridge.jobs import monitor
from sinew.bridge.jobs.job_views import JobView
from sinew.bridge.jobs.live_curves import curve_bars
from sinew.bridge.methods.adapters import get_adapter
from sinew.core.control import registry
from sinew.core.control.graph.model.io import save_graph
from sinew.core.errors import GraphError
from sinew.panels import skills as panel

from ...stock_clips import needs_stock
from ..helpers.graphs import unlearned
from ..helpers.interface import hero
from ..helpers.panel_drawing import SkillsLayout, draw_wide
from ..helpers.rigs import arm, wave
from ..helpers.stage_objects import arrow


def drawn():
    """What the panel drew."""
    return draw_wide(panel.SINEW_PT_skills, SkillsLayout)


def test_an_empty_scene_says_what_to_do(addon):
    assert drawn().texts == ["Choose an armature"]


def test_nothing_is_there_before_its_turn(addon):
    obj = hero()
    page = drawn()
    assert "No skills yet" in page.text and "graph_propose" not in page.idnames and "mode" not in page.props
    assert page.idnames[:3] == ["graph_skill_add", "graph_skill_remove", "graph_skill_add_all"]
    wave(obj, "Jump")
    bpy.ops.sinew.graph_skill_add_all()
    page = drawn()
    assert "No transitions yet" in page.text
    assert page.idnames.index("graph_propose") < page.idnames.index("graph_learn")
    assert not bpy.ops.sinew.graph_learn.poll()


def test_a_transition_of_a_skill_that_is_gone_is_told(addon):
    obj = hero()
    wave(obj, "Jump")
    bpy.ops.sinew.graph_skill_add_all()
    row = obj.sinew_transitions.add()
    row.source, row.target = "Jump", "Fly"
    assert "A transition is about 'Fly'" in drawn().text
    row.use = False
    assert "No transitions yet" in drawn().text
    row.use, row.target, row.distance = True, "Wave", 0.123
    page = drawn()
    assert "Jump 0 to Wave 0" in page.text and "12 cm" in page.text
    assert bpy.ops.sinew.graph_learn.poll()


def test_an_error_stands_in_the_panel_until_something_goes_well(addon):
    hero()
    get_adapter("graph").say("Hero", GraphError("That is no graph", "Mend it"))
    assert "That is no graph" in drawn().text and "Mend it" in drawn().text
    bpy.ops.sinew.graph_skill_add()
    assert "That is no graph" not in drawn().text


@pytest.mark.parametrize("name", ["graph_learn", "graph_bake"])
def test_the_settings_of_both_methods_are_mirrored(addon, name):
    obj = hero()
    kind = registry.get_method(name).settings_type
    values = (
        get_adapter("graph").graph_learn_request(bpy.context.scene, obj).settings if name == "graph_learn" else None
    )
    if values is not None:
        assert kind.from_mapping(values) == kind()
        bpy.context.scene.sinew.show_advanced = True
        assert set(drawn().props) >= {field.name for field in dataclasses.fields(kind)}
    else:
        own = get_adapter("graph").graph_bake_request(bpy.context.scene, obj).settings
        assert set(own) | {"mode", "seconds", "skills"} == {field.name for field in dataclasses.fields(kind)}


def test_learning_shows_its_curves(addon, monkeypatch):
    hero()
    bpy.ops.sinew.graph_skill_add()
    curves = (("change", (0.5, 0.25, 0.125)), ("push_n", (10.0, 120.0)), ("other", (1.0,)))
    view = JobView(
        "7", "Hero: Wave", "Learn", "running", "42 %", 0.42, armature="Hero", method_name="graph_learn", curves=curves
    )
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view])
    page = drawn()
    assert page.bars == [(0.42, "42 %")] and "graph_learn" not in page.idnames and "cancel" in page.idnames
    assert "Stands pushes of: 120 N" in page.text and "Change" not in page.text and "Other" not in page.text
    bpy.context.scene.sinew.show_advanced = True
    page = drawn()
    assert "Change of policies: 0.1250" in page.text and "Other" not in page.text
    assert "█▃▁" in page.text
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [dataclasses.replace(view, armature="Other")])
    assert drawn().bars == []


def test_bars_follow_the_curve():
    assert curve_bars([1.0]) == "" and curve_bars([2.0, 2.0]) == "▁▁"
    assert curve_bars([0.0, 7.0]) == "▁█"
    long = curve_bars(list(range(1000)))
    assert len(long) == 8 and long[0] == "▁" and long[-1] == "█" and list(long) == sorted(long)


@needs_stock
def test_what_was_learned_is_shown_and_every_mode_says_what_it_lacks(addon, tmp_path):
    obj, graph = unlearned("walk", "run", about={"curve": [{"lesson": "walk", "push_n": 280.0}]})
    save_graph(tmp_path / "a.graph.npz", graph)
    obj.sinew_graph.file = str(tmp_path / "a.graph.npz")
    page = drawn()
    assert "280 N" in page.text and f"{len(graph.transitions)} transitions" in page.text
    assert page.idnames.index("graph_learn") < page.idnames.index("graph_bake")
    lacks = {
        "SEQUENCE": "No skills are named",
        "WALK": "",
        "PATH": "No curve is chosen",
        "PUSHED": "Nothing pushes",
        "MEET": "Nobody else is on the stage",
    }
    for mode, words in lacks.items():
        obj.sinew_graph.mode = mode
        assert bpy.ops.sinew.graph_bake.poll() == (not words)
        assert words in drawn().text
    obj.sinew_graph.sequence = "walk 2"
    arrow(bone=obj.data.bones[0].name)
    arm("Other").sinew.role = "CHARACTER"
    bpy.context.view_layer.update()
    for mode in ("SEQUENCE", "PUSHED", "MEET"):
        obj.sinew_graph.mode = mode
        assert bpy.ops.sinew.graph_bake.poll(), mode
    obj.sinew_graph.file = str(tmp_path / "b.graph.npz")
    assert drawn().text.count("There is no graph in") == 1 and not bpy.ops.sinew.graph_bake.poll()
    assert "graph_bake" not in drawn().idnames
