# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons do what the API does, say why they cannot, and never show a traceback for what a user did."""

import bpy
import numpy as np

from sinew.bridge.importing import importers
from sinew.bridge.jobs import monitor, notices, requests
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.rig import actions
from sinew.bridge.scene.saving import save_blend
from sinew.core import jobs

from ..helpers.interface import animation, baked, hero, new_actions, refusal, simulate, slowly, tick_to_end, tick_until
from ..helpers.rigs import arm, wave


def shown():
    """What the panel says about the chosen motion."""
    return notices.of(request_of(bpy.context.scene))


def test_the_button_bakes_what_the_api_bakes(addon):
    hero()
    request = requests.Request("Hero", "Wave", settings={"chunk_frames": 7, "pause_s": 0.1}, seed=3, frames=(2, 17))
    job = requests.create_job(request, requests.read(request))
    assert jobs.wait(job, jobs.launch(job)).state == "done"
    by_api = requests.collect(job)
    expected, moved = baked(by_api.action.name), by_api.obj.name

    bpy.ops.wm.read_factory_settings(use_empty=True)
    obj = hero()
    chosen = bpy.context.scene.sinew
    chosen.seed, chosen.use_range, chosen.frame_start, chosen.frame_end = 3, True, 2, 17
    slowly(0.1, 7)
    before = animation()
    simulate()
    view = tick_to_end()
    assert new_actions(before) == [view.action]
    assert baked(view.action) == expected
    assert obj.name == moved
    # The result is what moves the armature now; the source is as it was, and still what the panel has chosen.
    assert obj.animation_data.action.name == view.action
    assert obj.animation_data.action_slot is not None
    assert animation()["actions"]["Wave"][0] == before["actions"]["Wave"][0]
    assert chosen.action.name == "Wave"
    assert monitor.job_of(view.id).spec.content == job.spec.content


def test_what_moves_the_armature_is_taken_where_no_action_is_chosen(addon):
    hero()
    bpy.context.scene.sinew.action = None
    simulate()
    tick_to_end()
    assert bpy.context.scene.sinew.action.name == "Wave"
    assert monitor.watched_jobs()[0].action == "Wave passthrough"


def test_cancel_and_resume(addon):
    hero()
    before = animation()
    slowly(0.2)
    job = simulate()
    tick_until(lambda view: view.fraction > 0)
    assert bpy.ops.sinew.cancel(job=job) == {"FINISHED"}
    assert monitor.watched_jobs()[0].text == "Stopping"
    view = tick_to_end()
    assert view.state == "cancelled"
    assert view.resumable
    assert animation() == before
    assert bpy.ops.sinew.resume(job=job) == {"FINISHED"}
    view = tick_to_end()
    assert view.state == "done"
    assert new_actions(before) == ["Wave passthrough"]
    with refusal("is done already", "Collect"):
        bpy.ops.sinew.resume(job=job)
    assert "done already" in monitor.watched_jobs()[0].message


def test_a_failed_job_shows_what_went_wrong_and_the_fix(addon):
    hero()
    before = animation()
    request = request_of(bpy.context.scene)
    job = requests.create_job(request, requests.read(request))
    (job.inputs / "clip.npz").write_bytes(b"torn")
    monitor.watch(job, bpy.context.scene)
    assert monitor.watched_jobs()[0].state == "created"
    bpy.ops.sinew.resume(job=job.spec.id)
    view = tick_to_end()
    assert (view.state, view.is_error, view.resumable) == ("failed", True, True)
    assert "clip.npz" in view.message and "damaged" in view.message
    assert "again" in view.hint
    with refusal("has no result", "failed"):
        bpy.ops.sinew.collect(job=job.spec.id)
    assert animation() == before


def test_polls_say_why_not(addon):
    with refusal("Select an armature"):
        bpy.ops.sinew.pick_selected()
    for button in (bpy.ops.sinew.simulate, bpy.ops.sinew.check_source):
        with refusal("Choose an armature"):
            button()
    obj = arm("Hero")
    bpy.ops.sinew.pick_selected()
    with refusal("'Hero' has no Action: choose one"):
        bpy.ops.sinew.simulate()
    wave(obj)
    bpy.context.scene.sinew.use_range = True
    bpy.context.scene.sinew.frame_end = 1
    with refusal("frame range is empty", "end after it starts"):
        bpy.ops.sinew.simulate()
    bpy.context.scene.sinew.use_range = False
    bpy.ops.object.mode_set(mode="EDIT")
    with refusal("'Hero' is in Edit Mode", "Tab"):
        bpy.ops.sinew.simulate()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.collection.objects.unlink(obj)
    with refusal("'Hero' is not in this scene"):
        bpy.ops.sinew.simulate()


def test_a_mesh_leads_to_its_armature(addon):
    obj = arm("Hero")
    wave(obj)
    mesh = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.scene.collection.objects.link(mesh)
    mesh.modifiers.new("Armature", "ARMATURE").object = obj
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.sinew.pick_selected()
    assert bpy.context.scene.sinew.armature == obj
    assert bpy.context.scene.sinew.action.name == "Wave"


def test_errors_are_shown_in_the_panel_until_something_changes(addon, jobs_folder, monkeypatch):
    hero()
    monkeypatch.setenv("SINEW_PYTHON", "/no/such/python")
    with refusal("'/no/such/python' does not exist", "preferences", "SINEW_PYTHON"):
        bpy.ops.sinew.simulate()
    (notice,) = shown()
    assert notice.is_error and "/no/such/python" in notice.message and "preferences" in notice.hint
    assert not jobs_folder.exists(), "a job was made that could not start"
    bpy.context.scene.sinew.seed += 1
    assert shown() == ()


def test_short_and_broken_motions_are_refused(addon):
    obj = hero(frames=3)
    with refusal("'Wave' is too short", "at least"):
        bpy.ops.sinew.simulate()
    assert "too short" in shown()[0].message
    action = wave(obj, "Torn")
    action.layers[0].strips[0].channelbag(action.slots[0]).fcurves[0].keyframe_points[2].co.y = np.nan
    bpy.ops.sinew.pick_selected()
    with refusal("not a number at frame 3", "Graph Editor"):
        bpy.ops.sinew.simulate()


def test_a_library_linked_armature(addon, tmp_path):
    hero()
    save_blend(tmp_path / "hero.blend")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "hero.blend"), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    scene = bpy.context.scene
    scene.sinew.method = "passthrough"
    scene.collection.objects.link(wanted.objects[0])
    scene.sinew.armature = wanted.objects[0]
    with refusal("'Hero' is linked from", "library override", "copy"):
        bpy.ops.sinew.simulate()
    scene.sinew.place = "COPY"
    simulate()
    assert tick_to_end().action == "Wave passthrough"


def test_a_wrong_frame_rate_is_found_and_put_right(addon):
    importers.open_input("jump")
    scene = bpy.context.scene
    true_fps = scene.render.fps / scene.render.fps_base
    bpy.context.view_layer.objects.active = requests.find_armature()
    bpy.ops.sinew.pick_selected()
    bpy.ops.sinew.check_source()
    assert shown() == ()
    scene.render.fps *= 2
    bpy.ops.sinew.check_source()
    (notice,) = shown()
    assert (notice.fix, notice.value) == ("frame_rate", true_fps) and not notice.is_error
    scene.sinew.seed += 1
    assert shown() == (notice,), "another seed does not make the motion right"
    bpy.ops.sinew.use_frame_rate(fps=notice.value)
    assert shown() == ()
    bpy.ops.sinew.check_source()
    assert shown() == ()
    assert request_of(scene).true_fps == true_fps


def test_a_wrong_scale_is_found_and_put_right(addon):
    hero().scale = (100.0, 100.0, 100.0)
    bpy.ops.sinew.check_source()
    (notice,) = shown()
    bpy.ops.sinew.use_scale(factor=notice.value)
    bpy.ops.sinew.check_source()
    assert shown() == ()
    assert request_of(bpy.context.scene).scale == notice.value == 0.01


def test_what_no_body_can_be_is_not_simulated_without_asking(addon):
    """A script is refused with the reason; the panel has the fix; and who says so gets it anyway."""
    hero().scale = (100.0, 100.0, 100.0)
    with refusal("m tall", "It was not simulated", "do it anyway"):
        bpy.ops.sinew.simulate()
    assert not monitor.watched_jobs()
    (notice,) = shown()
    assert notice.is_impossible and (notice.fix, notice.value) == ("scale", 0.01)
    assert notices.impossible_reason(request_of(bpy.context.scene)) == notice.message
    assert bpy.ops.sinew.simulate(anyway=True) == {"FINISHED"}
    assert tick_to_end().state == "done"


def test_fix_all_sets_what_is_offered_and_looks_again(addon):
    importers.open_input("jump")
    scene, obj = bpy.context.scene, requests.find_armature()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.sinew.pick_selected()
    true_fps = scene.render.fps / scene.render.fps_base
    scene.render.fps *= 2
    obj.scale = (100.0, 100.0, 100.0)
    bpy.ops.sinew.check_source()
    assert [notice.fix for notice in shown()] == ["scale"], "in wrong units nobody knows the time"
    bpy.ops.sinew.fix_source()
    assert [notice.fix for notice in shown()] == ["frame_rate"]
    bpy.ops.sinew.fix_source()
    assert shown() == () and request_of(scene).scale == 0.01 and request_of(scene).true_fps == true_fps


def test_leaving_out_what_is_no_motion_can_be_switched_on_again(addon):
    importers.open_input("jump")
    scene, obj = bpy.context.scene, requests.find_armature()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.sinew.pick_selected()
    with_first_pose(obj)
    scene.sinew.methods.sampling.trim = "off"
    bpy.ops.sinew.check_source()
    (notice,) = shown()
    assert notice.fix == "trim" and "The first frame is" in notice.message
    bpy.ops.sinew.fix_source(fix="trim")
    assert scene.sinew.methods.sampling.trim == "auto"
    assert [(notice.fix, notice.hint[:20]) for notice in shown()] == [("", "Simulated without it")]


def with_first_pose(obj):
    """Key a pose that is no part of the motion, elsewhere, in the first frame."""
    root = next(bone for bone in obj.pose.bones if bone.parent is None)
    action = obj.animation_data.action
    for curve in actions.curves_of(action, action.slots[0]):
        if curve.data_path == root.path_from_id("location"):
            curve.keyframe_points[0].co.y += 2.0
            curve.update()


def test_forgetting_and_cleaning(addon):
    hero()
    slowly(0.2)
    job = monitor.job_of(simulate())
    with refusal("is running", "Cancel it first"):
        bpy.ops.sinew.forget_job(job=job.spec.id)
    bpy.ops.sinew.cancel(job=job.spec.id)
    tick_to_end()
    assert bpy.ops.sinew.forget_job(job=job.spec.id) == {"FINISHED"}
    assert monitor.watched_jobs() == [] and len(bpy.context.scene.sinew.jobs) == 0
    assert job.folder.is_dir()
    monitor.attach()
    assert monitor.watched_jobs() == []

    slowly(0.0)
    other = monitor.job_of(simulate())
    tick_to_end()
    bpy.ops.sinew.forget_job(job=other.spec.id, delete_files=True)
    assert not other.folder.exists()
    assert "Wave passthrough" in bpy.data.actions

    last = monitor.job_of(simulate())
    tick_to_end()
    assert bpy.ops.sinew.clean_jobs(days=0) == {"FINISHED"}
    assert not last.folder.exists() and not job.folder.exists()
    assert monitor.watched_jobs() == []


def test_an_unknown_job_is_named(addon):
    for verb in (bpy.ops.sinew.cancel, bpy.ops.sinew.resume, bpy.ops.sinew.collect):
        with refusal("no job 'nobody'"):
            verb(job="nobody")
