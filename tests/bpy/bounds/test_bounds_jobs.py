# SPDX-License-Identifier: GPL-3.0-or-later
"""Train and Bake, from the button to the take: what was learned is a file beside the .blend, and makes motion."""

import bpy
import numpy as np
import pytest

from sinew.bridge.bounds import baking
from sinew.bridge.bounds.baking import ControllerBakeRequest
from sinew.bridge.jobs import monitor, requests
from sinew.bridge.learned.learned_file import learned_file
from sinew.bridge.methods.adapters import get_adapter
from sinew.bridge.setup import readiness
from sinew.bridge.setup.readiness import Readiness
from sinew.core.control.bounds.files import load_controller
from sinew.core.control.bounds.learned_file import CONTROLLER
from sinew.core.errors import BoundsError
from sinew.core.jobs import all_jobs, worker
from sinew.core.sim.stage_io import stage_from_arrays

from ...stock_clips import needs_stock
from ..helpers.interface import animation, new_actions, refusal, tick_to_end
from ..helpers.keyframes import key
from ..helpers.operator_steps import one_step
from ..helpers.skilled_mannequin import mannequin
from ..helpers.stage_objects import arrow
from ..helpers.training_jobs import create_training

FILES = learned_file("bounds")

pytestmark = needs_stock


@pytest.fixture(scope="module")
def learned():
    """A controller of the walk that was hardly learned: made once, by whoever needs it first."""
    return {}


@pytest.fixture
def walker(addon, monkeypatch):
    """The mannequin with the stock walk; jobs are done at once, in this process, and training takes moments."""
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: worker._run(job))
    obj = mannequin("walk")
    obj.sinew_body.use_mesh = False
    settings = bpy.context.scene.sinew.methods.bounds_train
    settings.millions, settings.worlds, settings.seconds, settings.warm = 0.001, 16, 1.0, False
    return obj


@pytest.fixture
def controller(walker, learned, tmp_path):
    """The walker with a controller that it refers to."""
    if not learned:
        request = get_adapter("bounds").train_request(bpy.context.scene, walker)
        job = create_training(request, requests.read(request))
        worker._run(job)
        learned["content"] = job.product("controller")
    path = tmp_path / "walk.safetensors"
    CONTROLLER.write_content(path, *learned["content"])
    walker.sinew_bounds.file = str(path)
    return path


def test_a_training_comes_home_and_bakes(walker, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    key(walker, "sinew_bounds.com", (1, 0.3), (17, 0.15), (33, 0.3), index=2)
    bpy.ops.ed.undo_push(message="before")
    before = animation()
    assert bpy.ops.sinew.bounds_train("EXEC_DEFAULT", True) == {"FINISHED"}
    view = tick_to_end()
    assert (view.state, view.method, view.action) == ("done", "Learn Within Bounds", "walk learned")
    assert new_actions(before) == ["walk learned"]
    obj = bpy.data.objects["Mannequin"]
    assert obj.sinew_bounds.file == "//sinew/Mannequin-walk.safetensors"
    assert obj.sinew_takes[0].source.name == "walk"
    path = tmp_path / "sinew" / "Mannequin-walk.safetensors"
    assert sorted(path.parent.iterdir()) == [path]
    found = load_controller(path)
    assert found.widths[:, 2].min() == pytest.approx(0.15, abs=0.01)
    assert found.widths[0, 2] == pytest.approx(0.3, abs=0.01)
    shown = FILES.view_of(obj)
    assert shown.model.reference.cyclic and shown.problem is None and "Not learned yet" in " ".join(shown.sentences)

    obj.sinew_bounds.seconds, obj.sinew_bounds.frame_start = 2.0, 11
    bpy.ops.ed.undo_push(message="trained")
    assert bpy.ops.sinew.bounds_bake("EXEC_DEFAULT", True) == {"FINISHED"}
    view = tick_to_end()
    assert (view.state, view.action) == ("done", "Mannequin learned")
    obj = bpy.data.objects["Mannequin"]
    first, last = obj.animation_data.action.frame_range
    assert first == 11.0 and last - first == pytest.approx(2.0 * bpy.context.scene.render.fps, abs=1.0)
    assert [row.source.name for row in obj.sinew_takes] == ["walk", "walk"]
    bpy.ops.ed.undo()
    assert "Mannequin learned" not in bpy.data.actions
    bpy.ops.ed.redo()
    assert bpy.data.objects["Mannequin"].animation_data.action.name == "Mannequin learned"


def test_beginning_to_learn_and_to_bake_is_one_step_each(controller, monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    bpy.ops.ed.undo_push(message="Original")
    for name in ("bounds_train", "bounds_styles", "bounds_bake"):
        one_step(name)


def test_a_bake_is_clean_or_has_what_is_on_the_stage(controller, walker):
    arrow(bone=walker.data.bones[1].name, start_frame=31, duration=0.1, force=150.0)
    learned = FILES.read(walker)
    job = baking.create_controller_bake(ControllerBakeRequest(walker.name, 3.0, frame_start=11), learned)
    stage = stage_from_arrays(*job.attachment("stage"))
    (push,) = stage.pushes
    assert push.start_s == pytest.approx(20 / bpy.context.scene.render.fps)
    assert np.linalg.norm(push.force) == pytest.approx(150.0)
    job = baking.create_controller_bake(ControllerBakeRequest(walker.name, 3.0, alone=True), learned)
    assert stage_from_arrays(*job.attachment("stage")).pushes == ()
    assert job.spec.target.named == "learned" and job.clip().duration_s == pytest.approx(3.0, abs=0.02)


def test_a_bake_on_an_empty_stage_is_not_offered(controller, walker):
    assert bpy.ops.sinew.bounds_bake.poll()
    walker.sinew_bounds.stage = "STAGE"
    assert "Nothing is on the stage" in get_adapter("bounds").why_not_bake(bpy.context.scene)
    assert not bpy.ops.sinew.bounds_bake.poll()


def test_a_controller_of_another_skeleton_is_refused_before_there_is_a_job(controller, walker):
    walker.scale = (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    with pytest.raises(BoundsError, match="another skeleton than that of 'Mannequin'"):
        baking.create_controller_bake(ControllerBakeRequest(walker.name), FILES.read(walker))
    with refusal("another skeleton"):
        bpy.ops.sinew.bounds_bake()
    assert "another skeleton" in str(get_adapter("bounds").problem_of("Mannequin"))
    assert monitor.watched_jobs() == []


def test_a_file_that_is_no_controller_is_told_and_one_that_is_gone_too(walker, tmp_path):
    path = tmp_path / "not.safetensors"
    path.write_bytes(b"nothing of the kind")
    for text, said in ((str(path), "is not a whole controller"), (str(tmp_path / "gone"), "does not exist")):
        walker.sinew_bounds.file = text
        assert said in str(FILES.view_of(walker).problem)
        assert said in get_adapter("bounds").why_not_bake(bpy.context.scene)


def test_a_controller_is_copied_beside_the_file(controller, walker, tmp_path):
    (tmp_path / "shot").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot" / "scene.blend"))
    bpy.ops.ed.undo_push(message="Saved")
    one_step("bounds_bring_along")
    obj = bpy.data.objects["Mannequin"]
    assert obj.sinew_bounds.file == "//sinew/walk.safetensors"
    assert FILES.path_of(obj).read_bytes() == controller.read_bytes()
    assert not bpy.ops.sinew.bounds_bring_along.poll()


def test_a_python_that_cannot_train_is_told_how_before_there_is_a_job(walker, monkeypatch):
    for known in (None, Readiness("/some/python"), Readiness("/some/python", "3.11", "MuJoCo 4", "PyTorch 2")):
        monkeypatch.setattr("sinew.bridge.setup.readiness._known", [known] if known else [])
        readiness.require_learning()
    lacking = Readiness("/some/python", "3.11", "MuJoCo 4", missing=("torch",))
    monkeypatch.setattr("sinew.bridge.setup.readiness._known", [lacking])
    with refusal("Run: /some/python -m pip install torch"):
        bpy.ops.sinew.bounds_train()
    assert monitor.watched_jobs() == []
    assert bpy.ops.sinew.simulate.poll()


def test_what_was_learned_before_is_trained_from_the_source_and_not_from_the_take(walker):
    bpy.ops.sinew.bounds_train("EXEC_DEFAULT", True)
    tick_to_end()
    obj = bpy.data.objects["Mannequin"]
    assert obj.animation_data.action.name == "walk learned"
    assert not bpy.ops.sinew.bounds_loosen.poll()
    assert get_adapter("bounds").train_request(bpy.context.scene, obj).action == "walk"


def test_who_has_seen_enough_gets_the_best_so_far(walker, monkeypatch):
    def launched(job, python, where=None):
        job.finish_file.touch()  # as the button does while the worker is at it
        worker._run(job)

    monkeypatch.setattr("sinew.core.jobs.launch", launched)
    settings = bpy.context.scene.sinew.methods.bounds_train
    settings.millions, settings.stop = 100.0, False
    bpy.ops.sinew.bounds_train("EXEC_DEFAULT", True)
    assert tick_to_end().state == "done"
    obj = bpy.data.objects["Mannequin"]
    about = FILES.read(obj).model.about
    assert 0 < about["samples"] < 10_000 and len(about["tests"]) == 1
    assert len(obj.sinew_takes) == 1


def test_a_style_and_a_controller_to_begin_with_travel_with_the_job(controller, walker, monkeypatch):
    settings = bpy.context.scene.sinew.methods.bounds_train
    settings.style = "manner"
    with refusal("Choose an Action for the style"):
        bpy.ops.sinew.bounds_train("EXEC_DEFAULT", True)
    walker.sinew_bounds.manner = walker.animation_data.action
    walker.sinew_bounds.begin = str(controller)
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    assert bpy.ops.sinew.bounds_train("EXEC_DEFAULT", True) == {"FINISHED"}
    job = all_jobs()[-1]
    assert {"style_clip.npz", "neutral_controller.npz", "bounds.npz"} <= set(job.spec.inputs)


def test_four_styles_come_home_as_takes_and_the_controller_stays_the_neutral_one(controller, walker, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    before = bpy.data.objects["Mannequin"].sinew_bounds.file
    assert bpy.ops.sinew.bounds_styles("EXEC_DEFAULT", True) == {"FINISHED"}
    tick_to_end()
    assert [view.state for view in monitor.watched_jobs()] == ["done"] * 4
    obj = bpy.data.objects["Mannequin"]
    styles = ("more_energy", "less_energy", "more_volume", "less_volume")
    names = sorted(path.name for path in (tmp_path / "sinew").iterdir())
    assert names == sorted(f"Mannequin-walk-{style}.safetensors" for style in styles)
    assert len(obj.sinew_takes) == 4 and obj.sinew_bounds.file == before
    obj.sinew_bounds.file = ""
    assert not bpy.ops.sinew.bounds_styles.poll()
