# SPDX-License-Identifier: GPL-3.0-or-later
"""One click from nothing: a mannequin that walks, out of everything's way, and a job that simulates it."""

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import monitor
from sinew.bridge.mannequin import example_walker
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.setup import readiness
from sinew.bridge.setup.readiness import Readiness
from sinew.core.motion.plain_walk import plain_walk

from ..helpers.interface import tick_to_end


def test_the_walker_walks_as_the_clip_does_at_the_scenes_own_rate(addon):
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start = 30, 11
    armature = example_walker.add_walker(scene)
    rig = read_rig(armature)
    clip = plain_walk(fps=30.0)
    assert rig.frame_start == 11 and scene.render.fps == 30 and rig.clip.fps == 30.0
    order = [rig.clip.skeleton.index(name) for name in clip.skeleton.names]
    assert np.abs(rig.clip.world()[0][:, order] - clip.world()[0]).max() < 1e-4


def test_it_is_as_tall_in_a_scene_of_centimetres_and_walks_beside_what_is_there(addon):
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    bpy.ops.mesh.primitive_cube_add(size=300.0)
    bpy.context.view_layer.update()
    armature = example_walker.add_walker(scene)
    heads = read_rig(armature).clip.world()[0]
    assert 0.6 < np.ptp(heads[..., 2]) < 1.5  # from the ankles to the base of the head
    assert heads[..., 0].min() > 1.5  # the cube reaches to 1.5 m


def test_one_click_adds_one_walker_and_simulates_it(addon):
    bpy.ops.mesh.primitive_cube_add()
    cube = bpy.context.object
    assert bpy.ops.sinew.try_mannequin("EXEC_DEFAULT", True) == {"FINISHED"}
    scene = bpy.context.scene
    armature = scene.sinew.armature
    source = armature.animation_data.action
    assert bpy.context.active_object == armature and not cube.select_get()
    assert (scene.frame_preview_start, scene.frame_preview_end) == tuple(map(int, source.frame_range))
    view = tick_to_end(seconds=120.0)
    assert view.state == "done", view
    take = armature.animation_data.action
    assert take != source and take.frame_range == source.frame_range
    report = armature.sinew_takes[0]
    assert not report.fell


def test_nobody_is_simulated_without_an_engine(addon, monkeypatch):
    monkeypatch.setattr(readiness, "_known", [Readiness("python", "3.11", missing=("mujoco",))])
    with pytest.raises(RuntimeError, match="needs a physics engine"):
        bpy.ops.sinew.try_mannequin()
    assert not bpy.data.armatures and not monitor.watched_jobs()


def test_a_worker_that_cannot_start_is_a_message_and_the_mannequin_stays(addon, monkeypatch, capfd):
    monkeypatch.setenv("SINEW_PYTHON", "/nowhere/python")
    assert bpy.ops.sinew.try_mannequin() == {"FINISHED"}
    assert "The worker's Python '/nowhere/python' does not exist" in capfd.readouterr().out
    assert bpy.context.scene.sinew.armature.animation_data.action and not monitor.watched_jobs()


def test_it_waits_for_object_mode(addon):
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Object Mode"):
        bpy.ops.sinew.try_mannequin()
