# SPDX-License-Identifier: GPL-3.0-or-later
"""Retime and Reach: a key moment of an Action when, where and as it is wanted, as an Action of its own."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from sinew.bridge.importing.importers import show_clip
from sinew.bridge.jobs import monitor, notices
from sinew.bridge.jobs.scene_request import request_of
from sinew.bridge.rig.armatures import armature_from_skeleton
from sinew.core.control.registry import clip_method_names, get_method
from sinew.core.errors import BadSettings
from sinew.core.motion.plain_walk import plain_walk
from sinew.panels.retime import SINEW_PT_retime

from ..helpers.interface import tick_to_end
from ..helpers.operator_steps import one_step
from ..helpers.panel_drawing import Page
from ..helpers.rigs import digest

KEY = 20


@pytest.fixture
def walker(addon):
    """An armature that walks along -Y, chosen in the panel; its Action begins at frame 1."""
    scene = bpy.context.scene
    scene.render.fps = 24
    clip = plain_walk(2.2, 24.0)
    obj = armature_from_skeleton(clip.skeleton, "Hero", scene.collection)
    show_clip(clip, obj)
    scene.sinew.armature = obj
    scene.frame_set(KEY)
    return obj


def target(place, turn=0.0):
    obj = bpy.data.objects.new("Ball", None)
    obj.matrix_world = Matrix.Translation(place) @ Matrix.Rotation(turn, 4, "Z")
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.scene.sinew.retime.target = obj
    return obj


def bone_at(obj, name, frame, along=0.0):
    """World place of a point along a bone, and the bone's matrix, at a frame."""
    bpy.context.scene.frame_set(frame)
    bone = obj.pose.bones[name]
    matrix = obj.matrix_world @ bone.matrix
    return np.array(matrix @ Vector((0.0, along * bone.length, 0.0)))


def locals_at(obj, frame):
    """Rotations of bones against their parents at a frame."""
    bpy.context.scene.frame_set(frame)
    bones = [bone for bone in obj.pose.bones if bone.parent]
    return np.array([(bone.parent.matrix.inverted() @ bone.matrix).to_3x3() for bone in bones])


def test_a_key_moment_is_at_its_frame_and_place_in_an_action_of_its_own(walker, capfd):
    source = walker.animation_data.action
    before, pose = digest(source), locals_at(walker, KEY)
    own = bpy.context.scene.sinew.retime
    own.use_at, own.at, own.goal = True, 25, "PLACE"
    target((0.3, 0.4, 0.0))
    assert bpy.ops.sinew.retime_and_reach() == {"FINISHED"}
    assert "Retiming 'Walk" in capfd.readouterr().out
    view = tick_to_end()
    assert view.action == "Walk retimed" and walker.animation_data.action == bpy.data.actions[view.action]
    assert digest(source) == before, "the old one is as it was, bit for bit"
    assert bone_at(walker, "pelvis", 25)[:2] == pytest.approx([0.3, 0.4], abs=0.01)
    np.testing.assert_allclose(locals_at(walker, 25), pose, atol=1e-4)
    assert walker.sinew_takes[-1].action.name == "Walk retimed"
    assert bpy.context.scene.sinew.action == source, "the source stays chosen"


def test_a_foot_reaches_a_target_that_moves_where_it_is_then(walker):
    own = bpy.context.scene.sinew.retime
    own.use_current, own.frame, own.use_at, own.at = False, KEY, True, 22
    own.goal, own.bone = "REACH", "foot.R"
    ball = target((9.0, 9.0, 9.0))
    for frame, place in ((1, (5.0, 5.0, 5.0)), (22, (0.2, 0.2, 0.25)), (40, (-5.0, 0.0, 0.0))):
        ball.location = place
        ball.keyframe_insert("location", frame=frame)
    bpy.ops.sinew.retime_and_reach()
    assert tick_to_end().state == "done"
    assert bone_at(walker, "foot.R", 22, along=0.5) == pytest.approx([0.2, 0.2, 0.25], abs=0.01)


@pytest.mark.parametrize(("facing", "ahead"), [("TOWARDS", None), ("TARGET", (1.0, 0.0)), ("ANGLE", (0.0, 1.0))])
def test_it_faces_as_it_is_asked_to(walker, facing, ahead):
    own = bpy.context.scene.sinew.retime
    own.facing, own.heading = facing, np.pi / 2
    begins = bone_at(walker, "pelvis", 1)[:2]
    target((1.5, 0.0, 0.0), turn=np.pi / 2)  # its -Y axis is +X
    ahead = np.array([1.5, 0.0]) - begins if ahead is None else np.array(ahead)
    bpy.context.scene.frame_set(KEY)
    bpy.ops.sinew.retime_and_reach()
    assert tick_to_end().state == "done"
    hips = bone_at(walker, "thigh.L", KEY) - bone_at(walker, "thigh.R", KEY)
    faces = np.cross(hips, [0.0, 0.0, 1.0])[:2]
    cosine = faces @ ahead / np.linalg.norm(faces) / np.linalg.norm(ahead)
    assert np.degrees(np.arccos(cosine)) < 2.0


def test_who_reaches_towards_a_target_comes_at_it_in_that_direction(walker):
    own = bpy.context.scene.sinew.retime
    own.goal, own.bone, own.facing = "REACH", "foot.R", "TOWARDS"
    begins = bone_at(walker, "pelvis", 1)[:2]
    target((1.0, 0.4, 0.2))
    bpy.context.scene.frame_set(KEY)
    bpy.ops.sinew.retime_and_reach()
    assert tick_to_end().state == "done"
    way, limb = (
        np.array([1.0, 0.4]) - begins,
        (bone_at(walker, "foot.R", KEY, 0.5) - bone_at(walker, "pelvis", KEY))[:2],
    )
    assert limb @ way / np.linalg.norm(limb) / np.linalg.norm(way) > np.cos(np.radians(10.0))


def test_it_is_one_step_back_and_forth(walker, monkeypatch):
    monkeypatch.setattr("sinew.core.jobs.launch", lambda job, python, where=None: None)
    bpy.context.scene.sinew.retime.use_at, bpy.context.scene.sinew.retime.at = True, 24
    bpy.ops.ed.undo_push(message="Original")
    one_step("retime_and_reach")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda own: None, ("Nothing is asked of frame 20", "Retime it")),
        (lambda own: setattr(own, "goal", "PLACE"), ("There is no target", "Choose an object")),
        (lambda own: (target((0, 0, 0)), setattr(own, "goal", "REACH")), ("Nothing is chosen to reach with", "Reach")),
        (
            lambda own: (target((0, 0, 0)), setattr(own, "bone", "head"), setattr(own, "goal", "REACH")),
            ("'head' is no hand or foot", "foot.L"),
        ),
        (
            lambda own: (setattr(own, "use_at", True), setattr(own, "at", 90)),
            ("Frame 20 cannot be at frame 90", "the latest frame 39"),
        ),
        (
            lambda own: (setattr(own, "use_current", False), setattr(own, "frame", 99), setattr(own, "use_at", True)),
            ("Frame 99 is outside of the motion", "from frame 1 to 54"),
        ),
    ],
)
def test_what_cannot_be_is_told_in_the_panel_and_makes_no_job(walker, change, words):
    change(bpy.context.scene.sinew.retime)
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.sinew.retime_and_reach()
    assert all(word in str(caught.value) for word in words), str(caught.value)
    (notice,) = notices.of(request_of(bpy.context.scene))
    assert notice.is_error and words[0] in notice.message
    assert monitor.watched_jobs() == []


def test_a_target_out_of_reach_is_told_by_the_job(walker):
    own = bpy.context.scene.sinew.retime
    own.goal, own.bone = "REACH", "foot.R"
    target((0.0, 0.0, 4.0))
    bpy.ops.sinew.retime_and_reach()
    view = tick_to_end()
    assert view.state == "failed" and "cm short of its target at frame 20" in view.message


def test_the_panel_asks_for_what_is_needed_and_no_menu_offers_the_method(walker):
    own = bpy.context.scene.sinew.retime
    page = Page(SINEW_PT_retime)
    assert page.button("sinew.retime_and_reach") is not None
    assert not {"frame", "at", "target", "bone", "heading"} & set(page.props)
    own.use_current, own.use_at, own.goal, own.facing = False, True, "REACH", "ANGLE"
    assert {"frame", "at", "target", "bone", "heading", "reach_s"} <= set(Page(SINEW_PT_retime).props)
    assert "retime" not in clip_method_names()


def test_the_method_without_a_key_moment_says_so():
    class Run:
        def attachment(self, name):
            return None

    method = get_method("retime")
    with pytest.raises(BadSettings, match="no key moment to retime"):
        method.run(plain_walk(1.0), method.settings_type(), Run())
