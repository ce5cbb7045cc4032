# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscle as an animator keys it: read frame by frame, sent with the job, kept in the baked Action."""

import dataclasses

import bpy
import numpy as np
import pytest

from sinew.bridge import cli
from sinew.bridge.body import muscle
from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.bridge.rig import actions, sources
from sinew.bridge.rig.rig_reader import loop_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.bridge.scene.time_slicing import run_all_slices
from sinew.core import jobs
from sinew.core.motion import Take

from ..helpers.rigs import arm, digest, wave


@pytest.fixture
def hero(addon):
    """An armature that waves through frames 1 to 20."""
    obj = arm("Hero")
    wave(obj)
    bpy.context.scene.render.fps = 24
    return obj


def key(obj, *pairs):
    """Key the muscle with straight lines between (frame, value) pairs in the armature's own Action."""
    for frame, value in pairs:
        obj.sinew_body.muscle = value
        obj.keyframe_insert(muscle.PATH, frame=frame)
    for curve in muscle_curves(obj.animation_data.action, obj):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def muscle_curves(action, obj):
    return [c for c in actions.curves_of(action, actions.slot_for(action, obj)) if c.data_path == muscle.PATH]


def read(obj, **wanted):
    request = requests.Request(obj.name, **wanted)
    rig = requests.read(request)
    return run_all_slices(muscle.read_muscle_in_slices(obj, rig, requests.find_action(request.action)))


def test_keys_are_read_frame_by_frame(hero):
    key(hero, (5, 1.0), (15, 0.0))
    found = read(hero)
    assert len(found) == 20
    assert found == pytest.approx(np.interp(np.arange(1, 21), [5, 15], [1.0, 0.0]), abs=1e-6)


def test_without_keys_it_is_what_the_armature_says(hero):
    assert np.all(read(hero) == 1.0)
    hero.sinew_body.muscle = 0.25
    assert np.all(read(hero) == 0.25)


def test_a_driver_counts(hero):
    driver = hero.driver_add(muscle.PATH).driver
    driver.type, driver.expression = "SCRIPTED", "1 - frame / 20"
    found = read(hero)
    assert found == pytest.approx(1.0 - np.arange(1, 21) / 20, abs=1e-6)


def test_an_nla_strip_counts(hero):
    action = hero.animation_data.action
    key(hero, (1, 1.0), (20, 0.05))
    strip = hero.animation_data.nla_tracks.new().strips.new("Wave", 1, action)
    strip.action_slot = actions.slot_for(action, hero)
    hero.animation_data.action = None
    assert read(hero) == pytest.approx(np.linspace(1.0, 0.05, 20), abs=1e-6)


def test_a_hidden_armature_is_read_too(hero):
    key(hero, (1, 1.0), (20, 0.05))
    hero.hide_set(True)
    assert read(hero) == pytest.approx(np.linspace(1.0, 0.05, 20), abs=1e-6)
    assert hero.hide_get()


def test_keys_beyond_the_motion_do_not_make_it_longer(hero):
    key(hero, (1, 1.0), (60, 0.0))
    assert len(requests.read(requests.Request("Hero")).clip) == 20


def test_only_the_frames_that_are_asked_for(hero):
    key(hero, (1, 1.0), (20, 0.05))
    assert read(hero, frames=(5, 9)) == pytest.approx(np.linspace(1.0, 0.05, 20)[4:9], abs=1e-6)


def test_a_wrong_frame_rate_moves_no_key_to_another_pose(hero):
    key(hero, (1, 1.0), (20, 0.05))
    found = read(hero, true_fps=12.0)
    assert found == pytest.approx(np.linspace(1.0, 0.05, 20), abs=1e-6)


def test_a_looped_motion_reads_the_frames_that_it_plays_over(hero):
    key(hero, (1, 1.0), (39, 0.0))
    rig = loop_rig(requests.read(requests.Request("Hero")), 2)
    assert run_all_slices(muscle.read_muscle_in_slices(hero, rig)) == pytest.approx(np.linspace(1.0, 0.0, 39), abs=1e-6)


def test_a_finer_clip_is_read_between_frames(hero):
    key(hero, (1, 1.0), (39, 0.0))
    rig = requests.read(requests.Request("Hero"))
    double = dataclasses.replace(rig, clip=rig.clip.resample(rig.clip.fps * 2))
    assert run_all_slices(muscle.read_muscle_in_slices(hero, double)) == pytest.approx(
        np.linspace(1.0, 0.5, 39), abs=1e-6
    )


def test_the_scene_is_left_as_it_was(hero):
    key(hero, (1, 1.0), (20, 0.0))
    bpy.context.scene.frame_set(7, subframe=0.5)
    before = hero.sinew_body.muscle
    read(hero)
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (7, 0.5)
    assert hero.sinew_body.muscle == pytest.approx(before)


def bake(obj, source, name="Take"):
    rig = requests.read(requests.Request(obj.name, action=source.name))
    before = sources.prior_animation(obj)
    action = write_take(obj, Take(rig.clip), rig, name=name, source_action=source, where="ACTION").action
    sources.store_prior(action, before)
    return action


def test_a_baked_action_has_no_keys_and_the_source_keeps_its_own(hero):
    source = hero.animation_data.action
    key(hero, (5, 1.0), (15, 0.0))
    before = digest(source)
    action = bake(hero, source)
    assert muscle_curves(action, hero) == []
    assert digest(source) == before


def test_keys_of_the_take_that_shows_do_not_count_when_its_source_is_simulated_again(hero):
    source = hero.animation_data.action
    key(hero, (5, 1.0), (15, 0.0))
    take = bake(hero, source)
    key(hero, (1, 0.0), (20, 0.0))
    assert hero.animation_data.action == take and len(muscle_curves(take, hero)) == 1
    assert read(hero, action=source.name) == pytest.approx(np.interp(np.arange(1, 21), [5, 15], [1.0, 0.0]), abs=1e-6)
    assert hero.animation_data.action == take


def test_keys_of_another_action_do_not_count(hero):
    walk = hero.animation_data.action
    run = wave(hero, "Run")
    key(hero, (1, 0.0), (20, 0.0))
    assert hero.animation_data.action == run
    bpy.context.scene.frame_set(5)
    assert hero.sinew_body.muscle == 0.0
    assert np.all(read(hero, action=walk.name) == 1.0)
    assert np.all(read(hero, action=run.name) == 0.0)


def test_jobs_carry_it_only_where_there_is_less_than_all(addon):
    open_input("punch")
    obj = requests.find_armature()
    request = requests.Request("", method="sampling", frames=(1, 12))
    assert "muscle.npz" not in requests.create_job(request, requests.read(request)).spec.inputs
    key(obj, (1, 1.0), (12, 0.0))
    arrays, meta = requests.create_job(request, requests.read(request)).attachment("muscle")
    assert arrays["muscle"] == pytest.approx(np.linspace(1.0, 0.0, 12), abs=1e-6)
    assert meta["fps"] == pytest.approx(requests.read(request).clip.fps)
    calm = dataclasses.replace(request, method="passthrough")
    assert "muscle.npz" not in requests.create_job(calm, requests.read(calm)).spec.inputs


def test_the_command_line_says_it_in_scene_frames(scene, tmp_path, monkeypatch):
    class Made(Exception):
        pass

    def stop(*_, **__):
        raise Made

    monkeypatch.setattr("sinew.bridge.cli.running.run_to_end", stop)
    words = ["simulate", "punch", "--method", "sampling", "--frames", "3:12", "--muscle", "1:1,12:0"]
    with pytest.raises(Made):
        cli.main([*words, "--job-dir", str(tmp_path / "job")])
    arrays, _ = jobs.open_job(tmp_path / "job").attachment("muscle")
    assert arrays["muscle"] == pytest.approx(np.interp(np.arange(3, 13), [1, 12], [1.0, 0.0]))


def test_wrong_words_on_the_command_line_are_one_line(scene, capsys):
    assert cli.main(["simulate", "punch", "--muscle", "1:7"]) == 1
    assert "Muscle is 7 at frame 1. Give values from 0 (limp) to 1 (full)" in capsys.readouterr().err
