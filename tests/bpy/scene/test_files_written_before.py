# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend, learned files and jobs that an older Sinew wrote: they open, come home, and bake what they baked then."""

import json

import bpy
import numpy as np
import pytest

import written_before
from sinew.bridge.jobs import monitor
from sinew.core import jobs
from sinew.core.jobs.home import write_home

from ..helpers.interface import tick_to_end
from ..helpers.property_values import all_values, curve_values, curves_sha256

SAME_BLENDER = bpy.app.version[:2] == (4, 5)  # with which the files were made


@pytest.fixture
def opened(addon, tmp_path, monkeypatch):
    """The .blend, opened where its jobs and learned files are; gives its armature."""
    blend = written_before.unpack(tmp_path)
    monkeypatch.setenv("SINEW_JOBS", str(tmp_path / "jobs"))
    for job in jobs.all_jobs():  # what saving it here would have written
        write_home(job, str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    return bpy.data.objects["Mannequin"]


def differences(then, now, where=""):
    """What is not as it was; what is new does not count."""
    if isinstance(then, dict):
        missing = [f"{where}.{name} is gone" for name in then.keys() - now.keys()]
        kept = [name for name in then if name in now]
        return missing + [line for name in kept for line in differences(then[name], now[name], f"{where}.{name}")]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [line for i, old in enumerate(then) for line in differences(old, now[i], f"{where}[{i}]")]
    return [] if then == now else [f"{where} was {then} and is {now}"]


def state_of(which):
    """How one of the kept jobs stands in the panel."""
    return next(view for view in monitor.watched_jobs() if view.id == written_before.job_id(which))


def test_every_property_has_the_value_that_was_set(opened):
    then = json.loads((written_before.FOLDER / "properties.json").read_text(encoding="utf-8"))
    assert differences(then, all_values()) == []
    # Among them a scene and an object in which nothing has its default.
    assert "Every Property" in then["scenes"] and "Every Property" in then["objects"]


def test_a_difference_is_seen():
    then = {"a": [1, {"b": 2}], "c": 3}
    assert differences(then, {"a": [1, {"b": 2, "new": 1}], "c": 3}) == []
    assert differences(then, {"a": [1, {"b": 4}]}) == [".c is gone", ".a[1].b was 2 and is 4"]


def test_keys_are_those_that_were_set(opened):
    assert {action.name: curves_sha256(action) for action in bpy.data.actions} == written_before.EXPECTED[
        "curves_sha256"
    ]
    bpy.context.scene.frame_set(17)
    assert opened.sinew_bounds.com[2] == pytest.approx(0.15) and opened.sinew_bounds.factor == pytest.approx(1.0)
    bpy.context.scene.frame_set(9)
    assert opened.sinew_bounds.factor == pytest.approx(1.5)


def test_what_was_finished_comes_home_and_what_was_killed_can_go_on(opened):
    tick_to_end()
    assert [state_of(which).state for which in written_before.EXPECTED["jobs"]] == ["done", "lost", "done", "lost"]
    assert state_of("simulate_broken").resumable and state_of("bounds_train_broken").resumable
    take = bpy.data.actions[state_of("simulate_done").action]
    # The same motion, settings and seed as those of the take that is in the file; its bounds were keyed in between.
    assert take.name == "walk sampling 2"
    known = bpy.data.actions["walk sampling"]
    if SAME_BLENDER:
        assert curves_sha256(take, "pose.") == curves_sha256(known, "pose.")
    assert curve_values(take, "pose.").keys() == curve_values(known, "pose.").keys()
    for curve, values in curve_values(known, "pose.").items():
        np.testing.assert_allclose(curve_values(take, "pose.")[curve], values, atol=1e-5)
    assert bpy.data.actions[state_of("graph_learn_done").action].name == "Mannequin skills"
    assert opened.sinew_takes[0].action_name == "walk sampling"
    assert {row.job for row in opened.sinew_takes} >= {
        written_before.job_id("simulate_done"),
        written_before.job_id("graph_learn_done"),
    }


def test_what_was_killed_goes_on_with_a_click(opened):
    tick_to_end()
    job = written_before.job_id("simulate_broken")
    assert bpy.ops.sinew.resume(job=job) == {"FINISHED"}
    tick_to_end()
    assert state_of("simulate_broken").state == "done"
    assert bpy.data.actions[state_of("simulate_broken").action].name == "walk sampling 3"
    written_before.check_take(jobs.jobs_root() / job / "result" / "take.npz", "simulate", same_method=False)


@pytest.mark.parametrize("verb", ["graph_bake", "bounds_bake"])
def test_learned_files_bake_what_they_baked(opened, verb):
    bpy.context.scene.sinew.engine = "mujoco"
    known = {job.spec.id for job in jobs.all_jobs()}
    assert getattr(bpy.ops.sinew, verb)("EXEC_DEFAULT") == {"FINISHED"}
    (job,) = (job for job in jobs.all_jobs() if job.spec.id not in known)
    tick_to_end()
    assert job.status().state == "done", job.status()
    assert job.spec.method == verb
    written_before.check_take(job.folder / "result" / "take.npz", verb, same_blender=SAME_BLENDER)
    assert any(row.job == job.spec.id for row in bpy.data.objects["Mannequin"].sinew_takes)
