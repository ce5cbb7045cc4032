# SPDX-License-Identifier: GPL-3.0-or-later
"""A model imported, a motion put on it, and its body forgotten, by the panel's buttons."""

import bpy
import pytest

from sinew.bridge.jobs import preparing
from sinew.bridge.transfer.recipes import import_recipe

from ...core.sim.robot_models import MJCF
from ...stock_clips import needs_stock
from ..helpers.interface import refusal
from ..helpers.operator_steps import one_step, state
from ..helpers.preparing_clicks import click, prepare
from ..helpers.rigs import arm
from ..helpers.skilled_mannequin import mannequin


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "tin.xml"
    path.write_text(MJCF)
    return str(path)


def select(obj):
    for one in bpy.context.selected_objects:
        one.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj


@needs_stock
def test_each_is_one_step(addon, model):
    name = mannequin("walk").name
    bpy.ops.ed.undo_push(message="Scene")
    one_step("import_model", {"filepath": model})
    scene = bpy.context.scene
    assert scene.sinew.armature.name == name and bpy.context.active_object.name == "tin"
    one_step("put_on_selected")
    robot = bpy.data.objects["tin"]
    assert bpy.context.scene.sinew.armature == robot
    assert robot.animation_data.action == bpy.context.scene.sinew.action
    assert robot.animation_data.action.name == "walk on tin"
    one_step("forget_given_body")
    assert not bpy.data.objects["tin"].sinew_body.given


@needs_stock
def test_clicks_are_one_step_each_at_their_end(addon, model, reported):
    """What a click makes comes in slices on a timer, long after the operator that began it."""
    name = mannequin("walk").name
    bpy.ops.ed.undo_push(message="Scene")
    scene, before = bpy.context.scene, state()
    preparing.begin_preparation(import_recipe(model, 1.0), scene, pytest.fail)
    assert prepare() > 2
    assert bpy.context.active_object.name == "tin"
    imported = state()
    assert click("put_on_selected") == {"CANCELLED"}  # its step is made at its end
    prepare()
    assert bpy.data.objects["tin"].animation_data.action.name == "walk on tin"
    put_on = state()
    for step in (imported, before):
        assert bpy.ops.ed.undo() == {"FINISHED"} and state() == step
    assert bpy.data.objects[name] is not None and "tin" not in bpy.data.objects
    for step in (imported, put_on):
        assert bpy.ops.ed.redo() == {"FINISHED"} and state() == step


@needs_stock
def test_what_has_no_legs_cannot_do_it(addon):
    mannequin("walk")
    bare = arm("Stick")
    select(bare)
    with refusal("Nothing in the skeleton can stand"):
        bpy.ops.sinew.put_on_selected()
    assert bare.animation_data is None or bare.animation_data.action is None


def test_a_file_that_is_no_model_is_told(addon, tmp_path):
    path = tmp_path / "a.urdf"
    path.write_text("<svg/>")
    with refusal("begins with <svg>"):
        bpy.ops.sinew.import_model(filepath=str(path))
    assert not bpy.data.objects and not bpy.data.armatures
