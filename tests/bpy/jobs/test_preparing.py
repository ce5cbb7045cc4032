# SPDX-License-Identifier: GPL-3.0-or-later
"""A click reads a motion a little at a time, and what it starts is what a script would have started at once."""

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import monitor, preparing, requests
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.rig import rig_sampling
from sinew.bridge.rig.rig_reader import RigReading, read_rig
from sinew.core import jobs
from sinew.panels import jobs as jobs_panel

from ..helpers.interface import animation, baked, hero, simulate, tick_to_end
from ..helpers.panel_drawing import Page
from ..helpers.preparing_clicks import click, prepare, same
from ..helpers.rigs import arm, wave


def test_what_is_clicked_becomes_the_same_take(addon, reported):
    hero()
    simulate()
    at_once = baked(tick_to_end().action)
    before = animation()
    assert click("simulate") == {"FINISHED"}
    assert [view.title for view in preparing.preparation_views()] == ["Wave"] and len(monitor.watched_jobs()) == 1
    page = Page(jobs_panel.SINEW_PT_jobs)
    assert page.button("sinew.cancel_preparing").number == preparing.preparation_views()[0].id
    assert prepare() > 1
    assert animation() == before, "reading has left something behind"
    assert len(monitor.watched_jobs()) == 2 and reported[1:] == [("INFO", "Simulating 'Wave'")]
    view = tick_to_end()
    assert view.state == "done" and baked(view.action) == at_once
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


@pytest.mark.parametrize("from_keys", [False, True])
def test_a_motion_read_in_pieces_is_the_motion(addon, from_keys):
    obj = hero(frames=50)
    if not from_keys:
        obj.pose.bones[0].constraints.new("LIMIT_SCALE")
    steps = 12 if from_keys else 50  # a curve at a time, or a frame
    pieces = RigReading(obj, action=bpy.data.actions["Wave"])
    count = 0
    while not pieces.advance(0.0):
        count += 1
        assert pieces.frames == (50 * count // steps, 50)
    assert count == steps - 1
    same(pieces.finish(), read_rig(obj))


@pytest.mark.parametrize("constrained", [False, True])
def test_a_scene_of_its_own_shows_what_the_animators_scene_does(addon, monkeypatch, constrained):
    obj = arm("Hero", bones=4)
    wave(obj, frames=30)
    if constrained:  # to something that moves by itself, and is in the animator's scene alone
        target = bpy.data.objects.new("Target", None)
        bpy.context.scene.collection.objects.link(target)
        for frame, place in ((1, (0, 0, 2)), (30, (2, 1, 1))):
            target.location = place
            target.keyframe_insert("location", frame=frame)
        obj.pose.bones["bone3"].constraints.new("DAMPED_TRACK").target = target
        obj.parent = target
    scene = bpy.context.scene
    scene.render.fps = 25
    assert rig_sampling.is_self_contained(scene, obj)
    alone = read_rig(obj, fps=40.0)
    assert [known.name for known in bpy.data.scenes] == ["Scene"]
    monkeypatch.setattr(rig_sampling, "is_self_contained", lambda *_: False)
    here = read_rig(obj, fps=40.0)
    same(alone, here)
    assert np.ptp(alone.clip.local_quat_wxyz, axis=0).max() > 0.1


def test_what_the_scene_does_to_an_armature_is_read_in_the_scene(addon):
    obj = hero()
    scene = bpy.context.scene
    assert rig_sampling.is_self_contained(scene, obj)
    mesh = bpy.data.objects.new("Cloth", bpy.data.meshes.new("Cloth"))
    constraint = obj.pose.bones[0].constraints.new("COPY_LOCATION")
    constraint.target = mesh
    assert not rig_sampling.is_self_contained(scene, obj)
    obj.pose.bones[0].constraints.remove(constraint)
    moved = []
    bpy.app.handlers.frame_change_post.append(moved.append)
    try:
        assert not rig_sampling.is_self_contained(scene, obj)
    finally:
        bpy.app.handlers.frame_change_post.remove(moved.append)
    assert rig_sampling.is_self_contained(scene, obj)


def test_a_pose_that_is_not_keyed_yet_survives_being_read(addon):
    obj = hero()
    scene = bpy.context.scene
    scene.frame_set(5)
    bone = obj.pose.bones["bone1"]
    bone.rotation_euler = (0.7, 0.1, 0.2)
    bpy.context.view_layer.update()
    click("simulate")
    prepare()
    assert tuple(round(value, 4) for value in bone.rotation_euler) == (0.7, 0.1, 0.2) and scene.frame_current == 5
    bpy.ops.sinew.cancel(job=monitor.watched_jobs()[0].id)
    tick_to_end()


def test_stopped_while_it_reads_nothing_is_left(addon, jobs_folder):
    hero(frames=400)
    click("simulate")
    (view,) = preparing.preparation_views()
    assert view.text == "Reading frame 0 of 400"
    preparing.tick_preparations()
    bpy.ops.sinew.cancel_preparing(number=view.id)
    prepare()
    assert preparing.preparation_views() == [] and monitor.watched_jobs() == [] and jobs.all_jobs() == []


def test_what_came_of_it_is_told_a_piece_after_it_is_done(addon, reported):
    """A report has Blender evaluate what the last piece has changed, which would be a part of that piece."""
    hero()
    click("check_source")
    (going,) = preparing._going
    while not going.is_done:
        preparing.tick_preparations()
    assert reported == [] and len(preparing.preparation_views()) == 1
    assert preparing.tick_preparations() is None and len(reported) == 1 and preparing.preparation_views() == []


def test_what_cannot_be_read_is_told(addon, reported):
    obj = hero()
    click("simulate")
    bpy.data.objects.remove(obj)
    prepare()
    assert reported == [("WARNING", "'Hero' went while it was read. Choose it again")] and monitor.watched_jobs() == []


def test_opening_a_file_drops_what_was_prepared_for_the_last_one(addon):
    hero()
    click("simulate")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert preparing.preparation_views() == [] and preparing.tick_preparations() is None


def test_a_click_on_check_motion_says_what_it_finds(addon, reported):
    hero()
    assert click("check_source") == {"FINISHED"}
    prepare()
    rig = requests.read(request_of(bpy.context.scene))
    assert len(reported) >= 1 and monitor.watched_jobs() == []
    assert reported[-1][0] == "WARNING" or reported[-1][1].startswith(f"'Wave' looks right: {len(rig.clip)} frames")
