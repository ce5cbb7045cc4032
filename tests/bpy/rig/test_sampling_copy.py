# SPDX-License-Identifier: GPL-3.0-or-later
"""A heavy motion is read from a copy of its armature: what it reads is the same, and nothing of it stays."""

import gc

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import preparing
from sinew.bridge.rig import rig_sampling, sampling_copy, sources
from sinew.bridge.rig.rig_reader import RigReading, read_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.bridge.scene.saving import save_blend
from sinew.core.motion import Take

from ..helpers.interface import animation, hero
from ..helpers.preparing_clicks import click, prepare, same
from ..helpers.rigs import arm, wave

NAME = ".Sinew reads"


@pytest.fixture
def heavy(monkeypatch):
    """Everything counts as heavy."""
    monkeypatch.setattr(rig_sampling, "_HEAVY_KEYS", 0)


@pytest.fixture
def bound(addon):
    """Hero, bound to himself: one bone follows another, and a property of his turns a third."""
    obj = hero(frames=30)
    obj.pose.bones["bone2"].constraints.new("COPY_ROTATION").target = obj
    obj.pose.bones["bone2"].constraints[0].subtarget = "bone0"
    obj["turn"] = 0.5
    driver = obj.driver_add("scale", 0).driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = obj, '["turn"]'
    bpy.context.view_layer.update()
    return obj


def stands_in():
    return NAME in bpy.data.scenes


def nothing_is_left():
    return not stands_in() and NAME not in bpy.data.objects and [scene.name for scene in bpy.data.scenes] == ["Scene"]


def in_slices(obj, pause=lambda count: None, **words):
    """The motion, read a frame at a time, with ``pause`` between two."""
    reading, count = RigReading(obj, **words), 0
    while not reading.advance(0.0):
        count += 1
        pause(count)
    return reading.finish()


def test_who_stands_in_moves_as_the_armature_does(bound, heavy):
    at_once = read_rig(bound)
    bound.pose.bones["bone1"].scale = (1.0, 1.3, 1.0)  # by hand, and not keyed yet
    bpy.context.view_layer.update()
    by_hand = read_rig(bound)
    assert not np.array_equal(at_once.bone_stretch, by_hand.bone_stretch)
    before = animation()["objects"]["Hero"]

    def pause(_):
        assert stands_in() and animation()["objects"]["Hero"] == before

    same(in_slices(bound, pause), by_hand)
    assert nothing_is_left() and np.ptp(by_hand.clip.local_quat_wxyz, axis=0).max() > 0.1


def test_the_source_is_read_while_its_take_shows(bound, heavy):
    source, rig = bound.animation_data.action, read_rig(bound)
    before = sources.prior_animation(bound)
    take = write_take(bound, Take(rig.clip), rig, name="Take", where="ACTION").action
    sources.store_prior(take, before)
    for curve in take.layers[0].strips[0].channelbags[0].fcurves:
        curve.mute = True  # so that it can be told from its source

    def pause(_):
        assert stands_in() and bound.animation_data.action == take

    same(in_slices(bound, pause, action=source, without_takes=True), read_rig(bound, action=source))
    assert nothing_is_left() and bound.animation_data.action == take


def test_who_is_bound_to_others_is_read_himself(addon, heavy):
    obj, other = arm("Hero", bones=4), bpy.data.objects.new("Other", None)
    wave(obj)
    assert sampling_copy.can_be_copied(obj)
    obj.pose.bones["bone3"].constraints.new("DAMPED_TRACK").target = other
    assert not sampling_copy.can_be_copied(obj)
    same(in_slices(obj, lambda _: stands_in() and pytest.fail("somebody stands in")), read_rig(obj))
    constraints = obj.pose.bones["bone3"].constraints
    constraints.remove(constraints[0])
    assert sampling_copy.can_be_copied(obj)
    obj.parent = other
    assert not sampling_copy.can_be_copied(obj)
    obj.parent = None
    target = obj.driver_add("location", 0).driver.variables.new().targets[0]
    target.id, target.data_path = other, "location.x"
    assert not sampling_copy.can_be_copied(obj)


def test_what_takes_blender_long_is_heavy(addon, monkeypatch):
    obj = hero()
    obj.pose.bones["bone2"].constraints.new("LIMIT_SCALE")  # or its keys alone would tell
    in_slices(obj, lambda _: stands_in() and pytest.fail("twenty frames are not heavy"))
    monkeypatch.setattr(rig_sampling, "_LONG_S", 0.0)
    seen = []
    in_slices(obj, lambda _: seen.append(stands_in()))
    assert seen[0] is False and all(seen[1:]) and len(seen) == 19 and nothing_is_left()


def test_saving_and_undo_in_between_leave_nobody_in_the_file(bound, heavy, tmp_path):
    path, at_once = tmp_path / "saved.blend", read_rig(bound)
    bpy.ops.ed.undo_push(message="Before")

    def pause(count):
        assert stands_in()
        if count == 5:
            save_blend(path)
            assert not stands_in()
        if count == 10:
            bpy.ops.ed.undo_push(message="With somebody who stands in")
            bpy.ops.ed.undo_push(message="Something")
            bpy.ops.ed.undo()
            assert not stands_in()

    same(in_slices(bound, pause), at_once)
    assert nothing_is_left()
    with bpy.data.libraries.load(str(path)) as (there, _):
        assert there.scenes == ["Scene"] and NAME not in there.objects


def test_who_is_not_gone_on_with_goes_with_the_next_one(bound, heavy):
    first, second = RigReading(bound), RigReading(bound)
    first.advance(0.0)
    second.advance(0.0)
    assert len([scene for scene in bpy.data.scenes if scene.name.startswith(NAME)]) == 2, "they are in each other's way"
    del first
    gc.collect()
    while not second.advance(0.0):
        pass
    assert nothing_is_left()


def test_stopped_while_somebody_stands_in_nothing_is_left(bound, heavy, monkeypatch):
    monkeypatch.setattr(preparing, "SLICE_S", 0.0)
    click("check_source")
    preparing.tick_preparations()
    assert stands_in()
    bpy.ops.sinew.cancel_preparing(number=preparing.preparation_views()[0].id)
    prepare()
    assert nothing_is_left()
