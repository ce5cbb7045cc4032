# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of the Skills panel, with real workers: what they bake comes home, and what they learn can be stopped."""

import bpy
import pytest

from sinew.bridge.jobs import monitor
from sinew.bridge.learned.learned_file import learned_file
from sinew.bridge.methods.adapters import get_adapter
from sinew.core.control.graph.model.io import save_graph

from ...stock_clips import needs_stock
from ..helpers.graphs import learned_by, unlearned
from ..helpers.interface import animation, new_actions, refusal, tick_to_end, tick_until
from ..helpers.operator_steps import one_step

FILES = learned_file("graph")

pytestmark = needs_stock


@pytest.fixture
def walker(addon, tmp_path):
    """The mannequin with the stock walk as its only skill, and a graph file of it."""
    obj, graph = unlearned("walk")
    save_graph(tmp_path / "walk.graph.npz", graph)
    obj.sinew_graph.file = str(tmp_path / "walk.graph.npz")
    obj.sinew_graph.seconds, obj.sinew_graph.frame_start = 1.0, 21
    return obj


def test_a_bake_comes_home_as_a_take_with_one_undo_step(walker):
    bpy.ops.ed.undo_push(message="before")
    walker.sinew_graph.mode = "WALK"
    before = animation()
    assert bpy.ops.sinew.graph_bake("EXEC_DEFAULT", True) == {"FINISHED"}
    view = tick_to_end()
    assert (view.state, view.method, view.action) == ("done", "Bake From Graph", "Mannequin random walk")
    assert new_actions(before) == ["Mannequin random walk"]
    obj = bpy.data.objects["Mannequin"]
    (row,) = obj.sinew_takes
    assert row.source.name == "walk" and row.action.frame_range[0] == 21.0
    assert row.action.frame_range[1] - 21.0 == pytest.approx(bpy.context.scene.render.fps, abs=1.0)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Mannequin"]
    assert len(obj.sinew_takes) == 0 and obj.animation_data.action.name == "walk"
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Mannequin"]
    assert len(obj.sinew_takes) == 1 and obj.animation_data.action.name == "Mannequin random walk"


def test_beginning_to_bake_is_one_step(walker, monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    walker.sinew_graph.mode = "WALK"
    bpy.ops.ed.undo_push(message="Original")
    one_step("graph_bake")


def test_learning_shows_how_it_goes_and_can_be_stopped(walker):
    bpy.context.scene.sinew.methods.graph_learn.quality = "draft"
    before = FILES.path_of(walker).read_bytes()
    assert bpy.ops.sinew.graph_learn("EXEC_DEFAULT", True) == {"FINISHED"}
    view = tick_until(lambda view: view.state == "running" and view.fraction > 0.0, 120.0)
    assert get_adapter("graph").learning_view(bpy.data.objects["Mannequin"]) == view
    bpy.ops.sinew.cancel(job=view.id)
    view = tick_until(lambda view: not view.alive)
    assert view.state == "cancelled" and view.resumable
    assert FILES.path_of(bpy.data.objects["Mannequin"]).read_bytes() == before


def test_what_was_learned_becomes_the_armatures_graph_without_asking(walker, tmp_path, monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: learned_by(job, graph))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    graph = FILES.read(walker).model
    bpy.ops.sinew.graph_learn("EXEC_DEFAULT", True)
    assert tick_to_end().action == "Mannequin skills"
    obj = bpy.data.objects["Mannequin"]
    assert obj.sinew_graph.file == "//sinew/Mannequin.graph.npz" and FILES.view_of(obj).problem is None


def test_a_stage_that_cannot_be_is_told_in_the_panel_and_makes_no_job(walker):
    other = walker.copy()
    bpy.context.scene.collection.objects.link(other)
    other.sinew.role, walker.sinew_graph.mode = "CHARACTER", "MEET"
    bpy.context.view_layer.update()
    with refusal("begin in one place"):
        bpy.ops.sinew.graph_bake()
    assert "begin in one place" in str(get_adapter("graph").problem_of("Mannequin"))
    assert monitor.watched_jobs() == []
