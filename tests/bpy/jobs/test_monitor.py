# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs outlive files, undo and Blender itself, and each result is baked once, into its own file."""

import json
import os
import shutil
import signal
import subprocess
import sys

import bpy
import pytest

from sinew.bridge.jobs import baking, monitor, requests
from sinew.bridge.setup import preferences
from sinew.bridge.takes import write_takes
from sinew.core import jobs

from ..helpers.interface import animation, hero, new_actions, simulate, slowly, tick_to_end, tick_until


def save_as(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)


def open_file(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))


def baked_actions():
    return [action.name for action in bpy.data.actions if "passthrough" in action.name]


# A Blender that starts a job from a saved file, and is killed before it saves again.
DOOMED = """
import json, runpy, sys, time
import bpy
runpy.run_path(sys.argv[1])["load_package"]().register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[2])
settings = bpy.context.scene.sinew.methods.passthrough
settings.chunk_frames, settings.pause_s = 2, 0.25
bpy.ops.sinew.simulate()
from sinew.bridge.jobs import monitor
print(json.dumps(monitor.watched_jobs()[0].id), flush=True)
time.sleep(600)
"""


def test_kill_blender_and_the_next_one_finds_the_job(addon, root, tmp_path):
    blend = tmp_path / "Ünter wegs" / "hero file.blend"
    blend.parent.mkdir()
    hero()
    save_as(blend)
    doomed = subprocess.Popen(
        [sys.executable, "-c", DOOMED, str(root / "core" / "entry.py"), str(blend)], stdout=subprocess.PIPE, text=True
    )
    try:
        job_id = next(json.loads(line) for line in doomed.stdout if line.startswith('"'))
    finally:
        doomed.kill()
        doomed.communicate()
    open_file(blend)
    before = animation()
    view = tick_until(lambda view: view.fraction > 0)
    assert view.id == job_id
    assert view.alive, "the worker died with its Blender"
    view = tick_to_end()
    assert new_actions(before) == [view.action] == ["Wave passthrough"]
    assert bpy.data.objects["Hero"].animation_data.action.name == view.action


def test_opening_another_file_while_a_job_runs(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    slowly(0.1)
    job = simulate()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    hero()  # the same armature and Action, in a file that is none of the job's business
    save_as(tmp_path / "other.blend")
    open_file(tmp_path / "other.blend")
    assert monitor.watched_jobs() == []
    jobs.wait(jobs.open_job(jobs.jobs_root() / job))
    assert monitor.tick_monitor() is None
    assert baked_actions() == []
    open_file(tmp_path / "hero.blend")
    assert tick_to_end().state == "done"
    assert baked_actions() == ["Wave passthrough"]


def test_a_new_unsaved_file_gets_nothing_from_an_old_one(addon):
    hero()
    job = simulate()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    hero()
    jobs.wait(jobs.open_job(jobs.jobs_root() / job))
    assert monitor.tick_monitor() is None
    assert monitor.watched_jobs() == [] and baked_actions() == []


def test_a_file_saved_after_the_start_takes_its_job_along(addon, tmp_path):
    hero()
    slowly(0.1)
    simulate()
    save_as(tmp_path / "hero.blend")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    open_file(tmp_path / "hero.blend")
    assert tick_to_end().state == "done"
    assert baked_actions() == ["Wave passthrough"]


def test_saved_under_another_name_the_job_moves_with_it(addon, tmp_path):
    hero()
    save_as(tmp_path / "a.blend")
    slowly(0.1)
    job = simulate()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "copy.blend"), copy=True)
    save_as(tmp_path / "b.blend")
    jobs.wait(monitor.job_of(job))
    for stranger in ("a.blend", "copy.blend"):
        open_file(tmp_path / stranger)
        view = tick_to_end()
        assert baked_actions() == []
        assert "another file" in view.message and not view.is_error
        bpy.ops.sinew.forget_job(job=job)
    open_file(tmp_path / "b.blend")
    tick_to_end()
    assert baked_actions() == ["Wave passthrough"]


def test_a_copied_file_may_still_have_the_result_if_asked_for(addon, tmp_path):
    hero()
    save_as(tmp_path / "a.blend")
    job = simulate()
    bpy.ops.wm.save_mainfile()
    jobs.wait(monitor.job_of(job))
    shutil.copy(tmp_path / "a.blend", tmp_path / "b.blend")
    open_file(tmp_path / "b.blend")
    tick_to_end()
    assert bpy.ops.sinew.collect(job=job) == {"FINISHED"}
    assert baked_actions() == ["Wave passthrough"]


def test_a_result_is_baked_once_and_its_job_is_gone_after_saving(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    simulate()
    tick_to_end()
    after = animation()
    addon.unregister()
    addon.register()
    assert tick_to_end().action == "Wave passthrough"
    assert animation() == after
    bpy.ops.wm.save_mainfile()
    open_file(tmp_path / "hero.blend")
    assert tick_to_end() is None
    assert animation() == after


def test_disabled_and_enabled_again_while_a_job_runs(addon):
    hero()
    slowly(0.1)
    job = simulate()
    addon.unregister()
    addon.register()
    assert tick_to_end().id == job
    assert baked_actions() == ["Wave passthrough"]


def test_a_folder_deleted_meanwhile(addon):
    hero()
    slowly(0.1)
    job = monitor.job_of(simulate())
    jobs.wait(job)
    shutil.rmtree(job.folder)
    view = tick_to_end()
    assert view.state == "missing" and "is gone" in view.message
    assert baked_actions() == []
    bpy.ops.sinew.forget_job(job=job.spec.id)
    assert monitor.watched_jobs() == []


def test_a_bake_that_was_never_saved_is_offered_again_but_not_repeated_by_itself(addon, tmp_path):
    hero()
    save_as(tmp_path / "hero.blend")
    simulate()
    tick_to_end()
    open_file(tmp_path / "hero.blend")
    view = tick_to_end()
    assert view.state == "done" and baked_actions() == []
    bpy.ops.sinew.collect(job=view.id)
    assert baked_actions() == ["Wave passthrough"]


def test_it_waits_while_the_user_is_in_edit_mode(addon):
    obj = hero()
    bpy.context.view_layer.objects.active = obj
    job = simulate()
    bpy.ops.object.mode_set(mode="EDIT")
    view = tick_until(lambda view: view.state == "done" and view.message)
    assert "Object Mode" in view.message and not view.is_error
    assert baked_actions() == [] and monitor.tick_monitor() is not None
    bpy.ops.object.mode_set(mode="POSE")
    assert tick_to_end().id == job
    assert baked_actions() == ["Wave passthrough"]


def test_a_killed_worker_is_seen_and_its_job_resumed(addon):
    hero()
    slowly(0.2)
    job = simulate()
    tick_until(lambda view: view.fraction > 0)
    os.kill(monitor.job_of(job).history.launched["pid"], signal.SIGKILL)
    view = tick_to_end()
    assert (view.state, view.is_error) == ("lost", True)
    assert "SIGKILL" in view.message and "Resume" in view.hint
    bpy.ops.sinew.resume(job=job)
    assert tick_to_end().state == "done"
    assert baked_actions() == ["Wave passthrough"]


def test_the_armature_may_be_called_otherwise_by_then(addon):
    obj = hero()
    simulate()
    obj.name = "Villain"
    assert tick_to_end().action == "Wave passthrough" and obj.animation_data.action.name == "Wave passthrough"


def test_the_armature_may_have_gone_meanwhile(addon):
    obj = hero()
    job = simulate()
    obj.name, obj.sinew_mark = "Villain", ""  # another one, for all that anybody can tell
    view = tick_to_end()
    assert view.state == "done" and view.is_error and baked_actions() == []
    assert "no armature 'Hero'" in view.message and "'Villain'" in view.hint
    obj.name = "Hero"
    assert bpy.ops.sinew.collect(job=job) == {"FINISHED"}
    assert monitor.watched_jobs()[0].message == ""


def test_a_result_goes_to_the_scene_where_its_armature_is(addon):
    obj = hero()
    home = bpy.context.scene
    simulate()
    bpy.context.window.scene = bpy.data.scenes.new("Elsewhere")
    tick_to_end()
    assert obj.animation_data.action.name == "Wave passthrough"
    assert bpy.context.scene.name == "Elsewhere" and not bpy.context.scene.objects
    assert home.objects["Hero"] == obj


def test_a_result_waits_while_no_window_shows_its_scene(addon, monkeypatch):
    obj = hero()
    home, other = bpy.context.scene, bpy.data.scenes.new("Elsewhere")
    simulate()
    shown = [other]
    monkeypatch.setattr(write_takes, "shown_scenes", lambda: shown)  # as in a window; here nothing is ever drawn
    view = tick_until(lambda view: view.state == "done" and view.message)
    assert view.message == f"It is baked when a window shows scene '{home.name}'"
    for _ in range(5):
        monitor.tick_monitor()
    assert obj.animation_data.action.name == "Wave"
    shown[:] = [home]
    tick_to_end()
    assert obj.animation_data.action.name == "Wave passthrough"


def test_what_is_being_baked_waits_as_well_when_its_scene_is_left(addon, monkeypatch):
    hero()
    other = bpy.data.scenes.new("Elsewhere")
    job = monitor.job_of(simulate())
    requests.jobs.wait(job)
    shown = [bpy.context.scene]
    monkeypatch.setattr(write_takes, "shown_scenes", lambda: shown)
    baking.begin_baking(job, lambda: None)
    baking.tick_baking()
    shown[:] = [other]
    for _ in range(200):
        assert baking.tick_baking() == baking._LATER_S
    assert not baking.is_ready(job.spec.id)
    shown[:] = [bpy.context.scene]
    while not baking.is_ready(job.spec.id):
        assert baking.tick_baking() in (None, baking._PAUSE_S)
    baking.drop(job.spec.id)


@pytest.mark.parametrize("newer", [False, True])
def test_a_job_that_cannot_be_read_here(addon, tmp_path, newer):
    hero()
    slowly(0.5)
    job = simulate()
    save_as(tmp_path / "hero.blend")
    folder = monitor.job_of(job).folder
    bpy.ops.sinew.cancel(job=job)
    tick_to_end()
    if newer:
        spec = json.loads((folder / "spec.json").read_text())
        (folder / "spec.json").write_text(json.dumps(spec | {"schema": 99}))
    else:
        shutil.rmtree(folder)
    open_file(tmp_path / "hero.blend")
    assert monitor.tick_monitor() is None
    (view,) = monitor.watched_jobs()
    assert view.state == "missing" and view.is_error
    assert ("Update Sinew" in view.hint) if newer else ("no job in" in view.message)
    bpy.ops.sinew.forget_job(job=job)
    assert monitor.watched_jobs() == [] and not bpy.context.scene.sinew.jobs


def test_undo_does_not_make_the_file_forget_its_job(addon, tmp_path):
    bpy.ops.ed.undo_push(message="Original")
    hero()
    bpy.ops.ed.undo_push(message="Hero")
    slowly(0.1)
    simulate()
    bpy.ops.ed.undo()
    assert not bpy.context.scene.sinew.jobs
    save_as(tmp_path / "hero.blend")
    open_file(tmp_path / "hero.blend")
    assert [entry.action for entry in bpy.context.scene.sinew.jobs] == ["Wave"]
    tick_to_end()
    assert baked_actions() == ["Wave passthrough"]


def test_the_timer_runs_only_while_there_is_something_to_wait_for(addon):
    bpy.app.timers.unregister(monitor.tick_monitor)
    hero()
    simulate()
    assert bpy.app.timers.is_registered(monitor.tick_monitor)
    tick_to_end()
    assert monitor.tick_monitor() is None
    addon.unregister()
    assert not bpy.app.timers.is_registered(monitor.tick_monitor)
    addon.register()


def test_preferences(addon, monkeypatch):
    own = bpy.context.preferences.addons["sinew"].preferences
    assert preferences.preferred_python() is None
    own.worker_python = "/opt/python"
    assert preferences.preferred_python() == "/opt/python"
    monkeypatch.setenv("SINEW_PYTHON", "/usr/bin/python")
    assert preferences.preferred_python() == "/usr/bin/python"


def test_the_jobs_folder_of_the_preferences_gives_way_to_the_environment(addon, tmp_path, monkeypatch):
    own = bpy.context.preferences.addons["sinew"].preferences
    outside = jobs.jobs_root()
    own.jobs_folder = str(tmp_path / "mine")
    assert jobs.jobs_root() == outside
    monkeypatch.delenv("SINEW_JOBS")
    usual = jobs.jobs_root()
    own.jobs_folder = str(tmp_path / "mine")
    assert jobs.jobs_root() == tmp_path / "mine"
    own.jobs_folder = str(tmp_path / "yours")
    assert jobs.jobs_root() == tmp_path / "yours"
    addon.unregister()
    assert jobs.jobs_root() == usual
    addon.register()
    assert jobs.jobs_root() == tmp_path / "yours"
    own = bpy.context.preferences.addons["sinew"].preferences
    own.jobs_folder = ""
    assert jobs.jobs_root() == usual


def test_without_preferences(addon):
    addons = bpy.context.preferences.addons
    addons.remove(addons["sinew"])
    assert preferences.preferred_python() is None
    preferences.apply_jobs_folder()
