# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes on a rig's own controls, from the click to the list: what is shown, said, switched and deleted."""

import bpy
import numpy as np
import pytest

from sinew.bridge.jobs import requests
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.takes import views
from sinew.core.geometry.quaternions import angle_between

from ..helpers.control_rigs import BODY, LIMB, disturbed, ik_body, reaching, stepping, switched_limb
from ..helpers.finished_jobs import finish
from ..helpers.take_making import moved_by, names

OPS = bpy.ops.sinew


def baked(obj, action, bones, place="AUTO"):
    """Bake a take in which these bones go elsewhere; gives the take and what was written."""
    request = requests.Request(obj.name, action.name, place=place)
    rig = requests.read(request)
    job, take = requests.create_job(request, rig), disturbed(rig, bones)
    finish(job, take)
    bpy.context.view_layer.objects.active = obj
    return take, requests.collect(job)


@pytest.fixture
def limb(addon):
    obj = switched_limb()
    return obj, reaching(obj)


def test_it_is_listed_with_how_well_it_matches(addon):
    obj = ik_body()
    take, written = baked(obj, stepping(obj), BODY)
    (row,) = obj.sinew_takes
    view = views.view_take(obj, row)
    assert written.where == "CONTROLS" and view.shown and not row.copy_name and len(bpy.data.objects) == 1
    assert view.placed == "On the rig's own controls: 0.0 mm and 0.0° off at most"
    clip = read_rig(obj).clip
    which = [clip.skeleton.index(name) for name in BODY]
    assert angle_between(clip.world()[1][:, which], take.motion.world()[1][:, which]).max() < 4e-3


def test_the_source_shows_again_with_its_switch(limb):
    obj, source = limb
    before = read_rig(obj).clip.world()[0]
    baked(obj, source, LIMB)
    bpy.context.scene.frame_set(4)
    assert obj.pose.bones["torso"]["IK_FK"] == 1.0
    assert np.abs(requests.read(requests.Request(obj.name, source.name)).clip.world()[0] - before).max() < 1e-5
    OPS.take_show_source()
    bpy.context.scene.frame_set(4)
    assert moved_by(obj) == source.name and obj.pose.bones["torso"]["IK_FK"] == 0.0
    assert np.abs(read_rig(obj).clip.world()[0] - before).max() < 1e-5
    OPS.take_show()
    bpy.context.scene.frame_set(5)
    assert obj.pose.bones["torso"]["IK_FK"] == 1.0
    OPS.take_delete()
    bpy.context.scene.frame_set(4)
    assert not obj.sinew_takes and obj.pose.bones["torso"]["IK_FK"] == 0.0 and len(bpy.data.actions) == 1
    assert np.abs(read_rig(obj).clip.world()[0] - before).max() < 1e-5


def test_a_second_take_knows_the_source_as_the_first_does(limb):
    obj, source = limb
    before = read_rig(obj).clip.world()[0]
    baked(obj, source, LIMB)
    bpy.context.scene.frame_set(4)
    baked(obj, source, LIMB)
    bpy.context.scene.frame_set(4)
    assert len(obj.sinew_takes) == 2
    OPS.take_show_source()
    assert obj.pose.bones["torso"]["IK_FK"] == 0.0
    assert np.abs(read_rig(obj).clip.world()[0] - before).max() < 1e-5


def test_takes_on_controls_and_on_the_copy_are_in_one_list(limb):
    obj, source = limb
    _, on_controls = baked(obj, source, LIMB)
    _, on_copy = baked(obj, source, LIMB, place="COPY")
    assert names(obj) == [on_controls.action.name, on_copy.action.name]
    assert obj.hide_viewport and not on_copy.obj.hide_viewport
    OPS.take_show(index=0)
    assert not obj.hide_viewport and on_copy.obj.hide_viewport and moved_by(obj) == on_controls.action.name
    assert [views.view_take(obj, row).shown for row in obj.sinew_takes] == [True, False]
    OPS.take_show_source(index=1)
    assert moved_by(obj) == source.name and obj.pose.bones["torso"]["IK_FK"] == 0.0
    OPS.take_delete_unkept()
    assert len(bpy.data.objects) == 1 and len(bpy.data.actions) == 1 and len(bpy.data.armatures) == 1
