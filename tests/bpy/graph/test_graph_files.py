# SPDX-License-Identifier: GPL-3.0-or-later
"""What was learned is kept in a file beside the .blend, goes elsewhere with it, and is never written over."""

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from sinew.bench.heavy_scenes import unlearned_graph
from sinew.bridge.graph.figures import figures_of
from sinew.bridge.jobs import requests
from sinew.bridge.learned.learned_file import learned_file
from sinew.core.control.graph.model.io import graph_to_arrays, save_graph
from sinew.core.errors import BadFile, NotLearned
from sinew.core.files import write_arrays
from sinew.core.jobs import jobs_root

from ...stock_clips import needs_stock
from ..helpers.graphs import learned_by, unlearned
from ..helpers.interface import refusal
from ..helpers.operator_steps import one_step
from ..helpers.skilled_mannequin import mannequin

FILES = learned_file("graph")

pytestmark = needs_stock

CURVE = [
    {"lesson": "walk", "iteration": 1, "push_n": 150.0, "change": 0.2, "lost": 3},
    {"lesson": "walk", "iteration": 2, "push_n": 280.0, "change": 0.004, "lost": 0},
    {"lesson": "links", "iteration": 1, "change": 0.1},
]


@pytest.fixture
def walker(addon):
    """(armature, graph) of the stock walk."""
    return unlearned("walk", about={"curve": CURVE})


def job_of(obj):
    request = requests.Request(obj.name, "walk")
    return requests.create_job(request, requests.read(request))


def save(path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def test_it_is_kept_beside_the_blend_and_goes_elsewhere_with_it(walker, tmp_path):
    obj, graph = walker
    (tmp_path / "here").mkdir()
    save(tmp_path / "here" / "scene.blend")
    job = job_of(obj)
    learned_by(job, graph)
    requests.collect(job)
    assert obj.sinew_graph.file == "//sinew/Mannequin.graph.npz"
    assert FILES.read(obj).model.structure.count == graph.structure.count
    assert job.collected()["graph"] == str(tmp_path / "here" / "sinew" / "Mannequin.graph.npz")
    # Its walk is a take like any other.
    assert [row.action.name for row in obj.sinew_takes] == [obj.animation_data.action.name]
    save(tmp_path / "here" / "scene.blend")
    shutil.move(tmp_path / "here", tmp_path / "there")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "there" / "scene.blend"))
    again = bpy.data.objects["Mannequin"]
    assert FILES.path_of(again) == tmp_path / "there" / "sinew" / "Mannequin.graph.npz"
    assert [skill.name for skill in figures_of(FILES.view_of(again).model)] == ["walk"]


def test_another_graph_gets_another_name_and_the_same_one_keeps_its_own(walker, tmp_path):
    obj, graph = walker
    save(tmp_path / "scene.blend")
    first = job_of(obj)
    learned_by(first, graph)
    requests.collect(first)
    before = FILES.path_of(obj).read_bytes()
    second = job_of(obj)
    learned_by(second, unlearned_graph(obj, {"seed": 2}))
    requests.collect(second)
    assert obj.sinew_graph.file == "//sinew/Mannequin-2.graph.npz"
    assert (tmp_path / "sinew" / "Mannequin.graph.npz").read_bytes() == before
    requests.collect(first)  # baked once more, after an undo
    assert obj.sinew_graph.file == "//sinew/Mannequin.graph.npz"
    assert len(list((tmp_path / "sinew").iterdir())) == 2


def test_without_a_blend_it_is_kept_among_the_jobs(walker):
    obj, graph = walker
    job = job_of(obj)
    learned_by(job, graph)
    requests.collect(job)
    assert FILES.path_of(obj) == (jobs_root() / "graphs" / "Mannequin.graph.npz").resolve()
    assert Path(obj.sinew_graph.file).is_absolute()


def test_a_graph_that_is_elsewhere_is_copied_beside_the_blend(walker, tmp_path):
    obj, graph = walker
    with refusal("has no graph yet"):
        bpy.ops.sinew.graph_bring_along()
    (tmp_path / "far").mkdir()
    save_graph(tmp_path / "far" / "a.npz", graph)
    obj.sinew_graph.file = str(tmp_path / "far" / "a.npz")
    with refusal("never saved"):
        bpy.ops.sinew.graph_bring_along()
    (tmp_path / "here" / "sinew").mkdir(parents=True)
    (tmp_path / "here" / "sinew" / "Mannequin.graph.npz").write_bytes(b"another")
    save(tmp_path / "here" / "scene.blend")
    assert bpy.ops.sinew.graph_bring_along() == {"FINISHED"}
    assert obj.sinew_graph.file == "//sinew/Mannequin-2.graph.npz"
    assert FILES.path_of(obj).read_bytes() == (tmp_path / "far" / "a.npz").read_bytes()
    assert (tmp_path / "here" / "sinew" / "Mannequin.graph.npz").read_bytes() == b"another"
    with refusal("already"):
        bpy.ops.sinew.graph_bring_along()


def test_bringing_a_graph_along_is_one_step(walker, tmp_path):
    bpy.ops.ed.undo_push(message="Original")
    obj, graph = walker
    for folder in ("far", "here"):
        (tmp_path / folder).mkdir()
    save_graph(tmp_path / "far" / "a.npz", graph)
    obj.sinew_graph.file = str(tmp_path / "far" / "a.npz")
    save(tmp_path / "here" / "scene.blend")
    bpy.ops.ed.undo_push(message="Graph")
    one_step("graph_bring_along")
    # Files are no part of a .blend: what was copied stays, and does no harm.
    assert (tmp_path / "far" / "a.npz").is_file() and len(list((tmp_path / "here" / "sinew").iterdir())) == 1


def test_a_job_that_learned_nothing_changes_no_reference(walker):
    obj, _ = walker
    job = job_of(obj)
    requests.jobs.wait(job, requests.jobs.launch(job))
    requests.collect(job)
    assert obj.sinew_graph.file == ""


def test_the_panel_sees_what_is_in_it_and_that_it_changed(walker, tmp_path):
    obj, graph = walker
    path = tmp_path / "my.graph.npz"
    save_graph(path, graph)
    obj.sinew_graph.file = str(path)
    (skill,) = figures_of(FILES.view_of(obj).model)
    assert (skill.name, skill.kind, skill.gait) == ("walk", "cycle", True)
    assert skill.duration_s == pytest.approx(0.1 * graph.structure.count)
    assert dict(skill.numbers) == {"iterations": 2.0, "push_n": 280.0, "change": 0.004} and "280 N" in skill.text
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "my.graph.npz" in FILES.view_of(obj).problem.message
    path.unlink()
    assert "There is no graph in" in FILES.view_of(obj).problem.message


def test_bad_files_are_refused_by_name(walker, tmp_path):
    obj, graph = walker
    with pytest.raises(NotLearned, match="has no graph yet"):
        FILES.read(obj)
    path = tmp_path / "new.graph.npz"
    arrays, meta = graph_to_arrays(graph)
    write_arrays(path, arrays, meta | {"version": 99})
    obj.sinew_graph.file = str(path)
    with pytest.raises(BadFile, match=r"(?s)new\.graph\.npz.*Update Sinew"):
        FILES.read(obj)
    write_arrays(path, {"a": np.zeros(3)}, {"kind": "sinew.clip"})
    with pytest.raises(BadFile, match=r"(?s)new\.graph\.npz.*no control graph"):
        FILES.read(obj)


def test_the_distances_become_a_picture_in_the_file(addon):
    mannequin("walk", "run")
    bpy.ops.sinew.graph_skill_add_all()
    assert bpy.ops.sinew.graph_distances() == {"FINISHED"}
    image = bpy.data.images["Mannequin distances"]
    assert image.packed_file is not None
    plain = np.array(image.pixels[:])
    assert plain.reshape(-1, 4)[:, 3].min() == 1.0 and np.ptp(plain.reshape(-1, 4)[:, 0]) > 0.5
    bpy.ops.sinew.graph_propose()
    assert bpy.ops.sinew.graph_distances() == {"FINISHED"}
    assert not np.array_equal(np.array(image.pixels[:]), plain)
    assert len(bpy.data.images) == 1
