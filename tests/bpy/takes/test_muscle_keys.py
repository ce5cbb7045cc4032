# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of muscle go to the motion that is simulated, whatever shows; those in a take are told and moved."""

import json

import bpy
import pytest

from sinew.bridge.jobs import requests
from sinew.bridge.rig import actions, sources
from sinew.bridge.rig.keyed_properties import MUSCLE
from sinew.bridge.rig.rig_writer import write_take
from sinew.bridge.takes import muscle_keys
from sinew.core.motion import Take
from sinew.panels.simulate import SINEW_PT_simulate

from ..helpers.operator_steps import one_step
from ..helpers.panel_drawing import Page
from ..helpers.rigs import arm, wave


@pytest.fixture
def hero(addon):
    """The chosen armature, which waves through frames 1 to 20, and its source."""
    obj = arm("Hero")
    wave(obj)
    bpy.context.scene.render.fps = 24
    bpy.context.scene.sinew.armature = obj
    return obj


def bake(obj, source):
    """Let a take of the source move the armature."""
    rig = requests.read(requests.Request(obj.name, action=source.name))
    before = sources.prior_animation(obj)
    action = write_take(obj, Take(rig.clip), rig, name="Take", source_action=source, where="ACTION").action
    sources.store_prior(action, before)
    return action


def keys(action, obj):
    """(frame, value) of every key of muscle in the Action."""
    curves = [c for c in actions.curves_of(action, actions.slot_for(action, obj)) if c.data_path == MUSCLE]
    return [(round(point.co.x, 2), round(point.co.y, 3)) for curve in curves for point in curve.keyframe_points]


def press(frame, value, **words):
    bpy.context.scene.frame_set(frame)
    bpy.context.scene.sinew.armature.sinew_body.muscle = value
    assert bpy.ops.sinew.key_muscle(**words) == {"FINISHED"}


def test_the_key_goes_to_the_action_that_shows(hero):
    source = hero.animation_data.action
    press(5, 1.0)
    press(15, 0.25)
    assert keys(source, hero) == [(5, 1.0), (15, 0.25)]
    press(15, 0.25, remove=True)
    assert keys(source, hero) == [(5, 1.0)]


@pytest.mark.parametrize("chooses", [True, False])
def test_while_a_take_shows_the_key_goes_to_its_source(hero, chooses):
    source = hero.animation_data.action
    take = bake(hero, source)
    bpy.context.scene.sinew.action = source if chooses else None
    press(5, 1.0)
    press(15, 0.25)
    assert hero.animation_data.action == take and hero.animation_data.action_slot is not None
    assert keys(take, hero) == [] and keys(source, hero) == [(5, 1.0), (15, 0.25)]


def test_the_key_goes_to_the_action_that_is_chosen_to_be_simulated(hero):
    walk, run = hero.animation_data.action, wave(hero, "Run")
    bpy.context.scene.sinew.action = walk
    press(3, 0.5)
    assert hero.animation_data.action == run and keys(run, hero) == [] and keys(walk, hero) == [(3, 0.5)]


def test_a_take_in_its_own_time_keys_the_frame_of_the_source_that_it_shows(hero):
    source = hero.animation_data.action
    take = bake(hero, source)
    take["sinew_source_frames"] = json.dumps([1.0 + 0.5 * frame for frame in range(20)])  # twice as slow
    press(11, 0.5)
    assert keys(source, hero) == [(6, 0.5)]


def test_a_take_whose_frames_are_none_of_its_source_refuses(hero):
    source = hero.animation_data.action
    take = bake(hero, source)
    take["sinew_source_frames"] = "[]"
    with pytest.raises(RuntimeError, match=r"has a time of its own.*Takes > Source"):
        bpy.ops.sinew.key_muscle()
    assert keys(source, hero) == [] and keys(take, hero) == []


def test_without_any_action_the_object_gets_one(addon):
    obj = arm("Still")
    bpy.context.scene.sinew.armature = obj
    press(4, 0.5)
    assert keys(obj.animation_data.action, obj) == [(4, 0.5)]


def blenders_own_key(obj, *pairs):
    """As I does over the field: into whatever moves the armature."""
    for frame, value in pairs:
        obj.sinew_body.muscle = value
        obj.keyframe_insert(MUSCLE, frame=frame)


def test_keys_in_a_take_are_told_and_moved(hero):
    source = hero.animation_data.action
    blenders_own_key(hero, (2, 1.0))
    take = bake(hero, source)
    assert muscle_keys.stray_take(hero) is None
    blenders_own_key(hero, (4, 0.5), (9, 0.0))
    page = Page(SINEW_PT_simulate)
    assert "where it does nothing" in page.text and page.button("sinew.move_muscle_keys")
    request = requests.Request("Hero", action=source.name, method="sampling")
    assert muscle_keys.find_stray_keys(hero)[0].kind == "stray_muscle_keys" and request.muscle is None
    assert bpy.ops.sinew.move_muscle_keys() == {"FINISHED"}
    assert keys(take, hero) == [] and keys(source, hero) == [(4, 0.5), (9, 0.0)]
    assert not Page(SINEW_PT_simulate).button("sinew.move_muscle_keys")


def test_keys_of_a_take_without_a_source_stay_where_they_are(hero):
    take = bake(hero, hero.animation_data.action)
    blenders_own_key(hero, (4, 0.5))
    bpy.data.actions.remove(bpy.data.actions["Wave"])
    with pytest.raises(RuntimeError, match="'Take' has no source any more"):
        bpy.ops.sinew.move_muscle_keys()
    assert keys(take, hero) == [(4, 0.5)]


def test_moving_them_is_one_step_back_and_forth(hero):
    bpy.ops.ed.undo_push(message="Original")
    bake(hero, hero.animation_data.action)
    blenders_own_key(hero, (4, 0.5))
    bpy.ops.ed.undo_push(message="Keyed")
    one_step("move_muscle_keys")


def test_copies_in_takes_of_older_files_are_no_stray_keys(hero):
    source = hero.animation_data.action
    blenders_own_key(hero, (5, 1.0), (15, 0.0))
    take = bake(hero, source)
    blenders_own_key(hero, (5, 1.0), (15, 0.0))  # as takes were baked before
    assert keys(take, hero) == keys(source, hero) and muscle_keys.stray_take(hero) is None
    blenders_own_key(hero, (12, 0.5))
    assert muscle_keys.stray_take(hero) == take


def test_the_panel_says_what_is_keyed_in_the_source(hero):
    source = hero.animation_data.action
    press(1, 0.25)
    bake(hero, source)
    bpy.context.scene.sinew.action = source
    page = Page(SINEW_PT_simulate)
    assert f"Keyed in '{source.name}': 25% at this frame" in page.text
    assert [vars(button).get("remove") for button in page.buttons if button.idname == "sinew.key_muscle"] == [
        None,
        True,
    ]
