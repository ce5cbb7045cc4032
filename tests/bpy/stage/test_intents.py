# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes and throws by intent: what is chosen in the panel or on the command line travels with the job."""

import bpy
import numpy as np
import pytest

from sinew.bridge.api.one_push import OnePush, create_pushed_job, parse_push
from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.bridge.stage import read_stage
from sinew.bridge.stage.stage_editing import add_push
from sinew.bridge.stage.views import stage_items
from sinew.core.errors import BadSettings
from sinew.core.sim.stage_io import stage_from_arrays

REQUEST = requests.Request("", method="sampling", settings={"quality": "draft"}, engine="mujoco")


@pytest.fixture
def walker(addon):
    open_input("walk")
    return requests.find_armature()


def test_a_push_s_intent_is_read_and_shown(walker):
    scene = bpy.context.scene
    scene.frame_set(10)
    push = add_push(scene, walker, "chest", 1.0)
    assert push.sinew.intent == "FORCE"
    rig = requests.read(REQUEST)
    (plain,) = read_stage(scene, {walker.name: rig}).pushes
    assert plain.intent == "" and stage_items(scene)[0].text.startswith("200 N")
    push.sinew.intent = "STAGGER"
    (meant,) = read_stage(scene, {walker.name: rig}).pushes
    assert meant.intent == "stagger" and np.array_equal(meant.force, plain.force)
    assert stage_items(scene)[0].text.startswith("Stagger")


def test_a_projectile_s_intent_is_read(walker):
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1, location=(0.0, -4.0, 1.2))
    ball = bpy.context.active_object
    ball.sinew.role, ball.sinew.intent, ball.sinew.bone = "PROJECTILE", "FALL", "chest"
    (prop,) = read_stage(scene, {walker.name: requests.read(REQUEST)}).props
    assert prop.intent == "fall" and prop.mass == 1.0
    assert stage_items(scene)[0].text.startswith("Fall")


def test_pushes_of_the_command_line_travel_with_the_job(walker):
    rig = requests.read(REQUEST)
    pushes = [parse_push("stagger@0.5:left"), parse_push("150@0.8")]
    assert pushes[1] == OnePush(150.0, 0.8, "front")
    job = create_pushed_job(REQUEST, rig, pushes, None)
    stagger, plain = stage_from_arrays(*job.attachment("stage")).pushes
    assert (stagger.intent, stagger.start_s, stagger.bone) == ("stagger", 0.5, "chest")
    assert plain.intent == "" and np.linalg.norm(plain.force) == pytest.approx(150.0)
    # One comes from the left and the other from the front: at right angles.
    assert abs(stagger.force @ plain.force) < 0.25 * np.linalg.norm(stagger.force) * np.linalg.norm(plain.force)


@pytest.mark.parametrize("text", ["", "200", "trip@1", "200@x", "200@1:above", "-5@1"])
def test_what_is_no_push_is_refused_with_an_example(text):
    with pytest.raises(BadSettings, match="is no push") as refused:
        parse_push(text)
    assert "stagger@1.5" in refused.value.hint


def test_a_push_outside_of_the_clip_is_refused(walker):
    with pytest.raises(BadSettings, match="outside of the clip"):
        create_pushed_job(REQUEST, requests.read(REQUEST), [OnePush(100.0, 99.0, "front")], None)


def test_a_method_without_physics_pushes_nobody(walker):
    request = requests.Request("", method="passthrough")
    with pytest.raises(BadSettings, match="no physics"):
        create_pushed_job(request, requests.read(request), [OnePush(100.0, 0.1, "front")], None)
