# SPDX-License-Identifier: GPL-3.0-or-later
"""Training a library in Blender: the file comes home without a take, never over the library, as on the command line."""

import threading
from dataclasses import replace

import bpy
import pytest

from directed_walks import make_stored_walks, make_walks
from little_policies import LITTLE, launch_here, trained_alike
from sinew.bridge import mannequin
from sinew.bridge.cli import main
from sinew.bridge.jobs import baking, monitor
from sinew.bridge.jobs.job_views import JobView
from sinew.bridge.learned import paths
from sinew.bridge.learned.learned_file import learned_file
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.setup import readiness
from sinew.bridge.setup.readiness import Readiness
from sinew.core import jobs
from sinew.core.control.tracking.library_files import LIBRARY_FILE, store_library
from sinew.core.control.tracking_policy.learned_file import DIRECTED, TrainedDirector
from sinew.panels.direct import SINEW_PT_direct
from sinew.panels.jobs import SINEW_PT_jobs

from ..helpers.interface import animation, hero, new_actions, refusal, tick_to_end, tick_until
from ..helpers.operator_steps import one_step
from ..helpers.panel_drawing import SkillsLayout, draw_wide

FILES = learned_file("direct")


@pytest.fixture(scope="module")
def content():
    return store_library(make_stored_walks())


@pytest.fixture
def walker(addon, content, tmp_path, monkeypatch):
    """A mannequin with a library of walks; jobs are done at once, in this process, and training takes moments."""
    launch_here(monkeypatch.setattr)
    LIBRARY_FILE.write_content(tmp_path / "walks.library.npz", *content)
    obj = mannequin.build(bpy.context.scene)
    scene = bpy.context.scene
    scene.sinew.armature = obj
    for name, value in LITTLE.items():
        setattr(scene.sinew.methods.direct_train, name, value)
    scene.sinew.methods.direct_test.minutes = 0.1
    obj.sinew_direct.file, obj.sinew_direct.seed = str(tmp_path / "walks.library.npz"), 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    return obj


def train():
    assert bpy.ops.sinew.direct_train("EXEC_DEFAULT", True) == {"FINISHED"}
    return tick_to_end()


def test_a_click_waits_for_no_file_that_is_kept(walker, monkeypatch):
    threads, keep = [], paths.keep_data

    def kept(*words):
        threads.append(threading.current_thread())
        return keep(*words)

    monkeypatch.setattr(paths, "keep_data", kept)
    monkeypatch.setattr("sinew.bridge.jobs.watched_job.bakes_in_slices", lambda: True)
    assert bpy.ops.sinew.direct_train("EXEC_DEFAULT", True) == {"FINISHED"}
    job = monitor.job_of(monitor.watched_jobs()[0].id)

    def is_collected(view):
        baking.tick_baking()
        return job.collected() is not None

    tick_until(is_collected)
    assert threads and threading.main_thread() not in threads
    assert isinstance(FILES.read(walker).model, TrainedDirector)


def test_what_is_trained_comes_home_as_a_file_beside_the_library(walker, content, tmp_path):
    before, library = animation(), (tmp_path / "walks.library.npz").read_bytes()
    assert "Not trained" in draw_wide(SINEW_PT_direct, SkillsLayout).text
    bpy.ops.ed.undo_push(message="before")
    view = train()
    path = tmp_path / "sinew" / "Mannequin-trained.library.npz"
    assert (view.state, view.method, view.file) == ("done", "Train to Keep Its Feet", path.name)
    obj = bpy.data.objects["Mannequin"]
    assert obj.sinew_direct.file == "//sinew/Mannequin-trained.library.npz" and FILES.path_of(obj) == path
    assert (tmp_path / "walks.library.npz").read_bytes() == library
    assert new_actions(before) == [] and len(obj.sinew_takes) == 0
    assert "Trained for" in draw_wide(SINEW_PT_direct, SkillsLayout).text
    page = draw_wide(SINEW_PT_jobs, SkillsLayout)
    assert f"Learned '{path.name}'" in page.text and "collect" in page.idnames
    out = tmp_path / "by_hand.library.npz"
    words = [word for name, value in LITTLE.items() for word in ("--set", f"{name}={value}")]
    assert main(["direct", "train", str(tmp_path / "walks.library.npz"), "--out", str(out), "--seed", "3", *words]) == 0
    trained_alike(DIRECTED.read_content(path), DIRECTED.read_content(out))

    bpy.ops.ed.undo()  # the file stays; who wants it back after all asks for it
    obj = bpy.data.objects["Mannequin"]
    assert obj.sinew_direct.file.endswith("walks.library.npz") and path.is_file()
    assert bpy.ops.sinew.collect("EXEC_DEFAULT", True, job=view.id) == {"FINISHED"}
    assert FILES.path_of(bpy.data.objects["Mannequin"]) == path and len(list(path.parent.iterdir())) == 1

    assert bpy.ops.sinew.direct_test("EXEC_DEFAULT", True) == {"FINISHED"}
    view = tick_to_end()
    assert view.state == "done" and any("falls in" in note for note in view.notes)
    figures = monitor.job_of(view.id).report()["test"]
    assert {"falls", "minutes", "joint_error_m", "skate_m_s", "turn_90_s"} <= figures.keys()


def test_who_has_seen_enough_gets_the_best_so_far_and_goes_on_from_it(walker, monkeypatch):
    launch_here(monkeypatch.setattr, lambda job: job.finish_file.touch())  # as the button does while a worker is at it
    bpy.context.scene.sinew.methods.direct_train.millions = 100.0
    assert train().state == "done"
    obj = bpy.data.objects["Mannequin"]
    found = FILES.read(obj).model
    assert isinstance(found, TrainedDirector) and 0 < found.controller.about["samples"] < 1000
    obj.sinew_direct.seed = 4
    assert train().state == "done"
    assert FILES.path_of(bpy.data.objects["Mannequin"]).name == "Mannequin-trained-2.library.npz"


def test_a_file_for_an_armature_that_is_gone_is_kept_and_named(walker, tmp_path):
    bpy.ops.sinew.direct_train("EXEC_DEFAULT", True)
    bpy.data.objects.remove(bpy.data.objects["Mannequin"])
    view = tick_to_end()
    assert view.is_error and "There is no armature 'Mannequin'" in view.message
    assert "Mannequin-trained.library.npz" in view.message
    assert (tmp_path / "sinew" / "Mannequin-trained.library.npz").is_file()


def test_what_cannot_be_trained_or_tested_says_why(walker, tmp_path, monkeypatch):
    adapter, scene = get_adapter("direct"), bpy.context.scene
    assert adapter.why_not_learn(scene) == "" and not bpy.ops.sinew.direct_test.poll()
    assert adapter.why_not_test(scene) == "The library is not trained yet: train it first"
    DIRECTED.write_content(tmp_path / "old.library.npz", *make_walks()[0].to_arrays())
    walker.sinew_direct.file = str(tmp_path / "old.library.npz")
    assert "does not say what body" in adapter.why_not_learn(scene) and not bpy.ops.sinew.direct_train.poll()
    obj = hero()
    obj.sinew_direct.file = str(tmp_path / "walks.library.npz")
    with refusal("The library is of another skeleton than that of 'Hero'", "build one for it"):
        bpy.ops.sinew.direct_train("EXEC_DEFAULT", True)
    bpy.context.scene.sinew.armature, walker.sinew_direct.file = walker, obj.sinew_direct.file
    lacking = Readiness("/some/python", "3.11", "MuJoCo 4", "", ("torch",))
    monkeypatch.setattr(readiness, "current_readiness", lambda: lacking)
    with refusal("Training needs torch", "pip install torch"):
        bpy.ops.sinew.direct_train("EXEC_DEFAULT", True)
    assert jobs.all_jobs() == []


def test_training_shows_its_curves_and_can_be_stopped_or_gone_on_with(walker, monkeypatch):
    curves = (("falls_per_minute", (30.0, 4.5)), ("up_s", (0.5, 3.25)), ("kl", (0.1,)))
    words = {"armature": "Mannequin", "method_name": "direct_train", "curves": curves}
    view = JobView("7", "Mannequin: walks", "Train", "running", "42 %", 0.42, **words)
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [view])
    page = draw_wide(SINEW_PT_direct, SkillsLayout)
    assert page.bars == [(0.42, "42 %")] and "direct_train" not in page.idnames
    assert {"cancel", "direct_finish"} <= set(page.idnames) and "rehearsal" in page.props
    assert "Falls a minute: 4.5" in page.text and "Stays up: 3.2 s" in page.text and "kl" not in page.text.lower()
    assert not bpy.ops.sinew.direct_train.poll()
    monkeypatch.setattr(monitor, "watched_jobs", lambda: [replace(view, state="cancelled")])
    page = draw_wide(SINEW_PT_direct, SkillsLayout)
    (resume,) = (button for button in page.buttons if button.idname == "sinew.resume")
    assert resume.text == "Go On From 42%" and "direct_train" in page.idnames


def test_beginning_to_train_and_to_test_is_one_step_each(walker, tmp_path, monkeypatch):
    train()
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    bpy.ops.ed.undo_push(message="Original")
    one_step("direct_train")
    one_step("direct_test")
