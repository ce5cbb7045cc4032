# SPDX-License-Identifier: GPL-3.0-or-later
"""The two doors on rigs that do what real rigs do."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from sinew.bridge.rig import actions
from sinew.bridge.rig.placing import rig_overrides_keys
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.rig.rig_writer import write_take
from sinew.core.geometry.quaternions import angle_between, from_rotation_vector, multiply
from sinew.core.motion import Clip, Take
from sinew.core.motion.unsimulated_bones import copy_unsimulated_bones

from ..helpers.rigs import arm, digest, edit, wave


def same(first, second, tolerance=1e-4):
    (pos, quat), (pos_again, quat_again) = first.clip.world(), second.clip.world()
    assert pos.shape == pos_again.shape
    assert np.abs(pos - pos_again).max() < tolerance
    assert angle_between(quat, quat_again).max() < tolerance


def there_and_back(obj, **reading):
    before = read_rig(obj, **reading)
    written = write_take(obj, Take(before.clip), before, name="again", where="ACTION")
    same(before, read_rig(obj, scale=reading.get("scale", 1.0)))
    return before, written


def test_reads_what_blender_shows(scene):
    obj = arm()
    wave(obj)
    obj.location, obj.rotation_euler, obj.scale = (1, 2, 3), (0.4, 0.5, 0.6), (2, 2, 2)
    rig = read_rig(obj)
    pos, quat = rig.clip.world()
    scene.frame_set(7)
    for i, name in enumerate(rig.clip.skeleton.names):
        matrix = obj.matrix_world @ obj.pose.bones[name].matrix
        assert np.allclose(pos[6, i], matrix.translation, atol=1e-5)
        assert angle_between(quat[6, i], np.array(matrix.to_quaternion())) < 1e-5
    assert rig.clip.skeleton.lengths[0] == pytest.approx(2 * obj.data.bones["bone0"].length)


@pytest.mark.parametrize("scale", [(1, 1, 1), (0.01, 0.01, 0.01), (100, 100, 100), (1, 2, 0.5)])
def test_object_scale(scene, scale):
    obj = arm()
    wave(obj)
    obj.scale, obj.rotation_euler = scale, (1.2, -0.3, 0.7)
    there_and_back(obj)


def test_unit_scale_and_metres_a_unit(scene):
    obj = arm()
    wave(obj)
    plain = read_rig(obj)
    scene.unit_settings.scale_length = 0.01
    rig, _ = there_and_back(obj, scale=3.0)
    assert np.allclose(rig.clip.world()[0], plain.clip.world()[0] * 0.03, atol=1e-6)


def test_a_parented_armature_whose_parent_moves(scene):
    obj = arm()
    wave(obj)
    empty = bpy.data.objects.new("Carrier", None)
    scene.collection.objects.link(empty)
    obj.parent = empty
    obj.matrix_parent_inverse = Matrix.Rotation(0.5, 4, "Y")
    for frame in (1, 20):
        empty.location = (frame, 0, 0)
        empty.keyframe_insert("location", frame=frame)
    rig, _ = there_and_back(obj)
    assert np.ptp(rig.clip.world()[0][:, 0, 0]) > 10


def test_an_action_that_moves_the_object_rather_than_the_hips(scene):
    obj = arm()
    action = wave(obj, location=False)
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    for axis in range(3):
        actions.add_curve(bag, "location", axis, "Object", 1, np.linspace(0, 3 * axis + 1, 20))
        actions.add_curve(bag, "rotation_euler", axis, "Object", 1, np.linspace(0, 1, 20))
    rig, written = there_and_back(obj)
    assert np.ptp(rig.clip.world()[0][:, 0, 2]) > 3
    paths = {c.data_path for c in actions.curves_of(written.action, written.action.slots[0])}
    assert {"location", "rotation_euler"} <= paths


def test_other_curves_come_along(scene):
    obj = arm()
    action = wave(obj)
    obj["smile"] = 0.0
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    actions.add_curve(bag, '["smile"]', 0, "Face", 1, np.linspace(0, 1, 20))
    _, written = there_and_back(obj)
    copied = next(c for c in actions.curves_of(written.action, written.action.slots[0]) if "smile" in c.data_path)
    assert copied.evaluate(20) == pytest.approx(1.0)


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_every_rotation_mode(scene, mode):
    obj = arm()
    wave(obj)
    before = read_rig(obj)
    for bone in obj.pose.bones:
        bone.rotation_mode = mode
    written = write_take(obj, Take(before.clip), before, name="again", where="ACTION")
    same(before, read_rig(obj))
    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    rotations = {
        c.data_path.rpartition(".")[2]
        for c in actions.curves_of(written.action, written.action.slots[0])
        if "rotation" in c.data_path
    }
    assert rotations == {channel}


@pytest.mark.parametrize("inherit_scale", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
@pytest.mark.parametrize("inherit_rotation", [True, False])
@pytest.mark.parametrize("local_location", [True, False])
def test_every_way_of_inheriting(scene, inherit_scale, inherit_rotation, local_location):
    obj = arm(connected=False)
    wave(obj)
    obj.pose.bones["bone0"].scale = (1.3, 1.3, 1.3)
    for bone in obj.data.bones:
        bone.use_inherit_rotation, bone.inherit_scale, bone.use_local_location = (
            inherit_rotation,
            inherit_scale,
            local_location,
        )
    there_and_back(obj)


def test_squash_and_stretch(scene):
    obj = arm(connected=False)
    action = wave(obj)
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    for axis, end in enumerate((0.5, 2.0, 1.2)):
        actions.add_curve(bag, 'pose.bones["bone0"].scale', axis, "bone0", 1, np.linspace(1, end, 20))
    there_and_back(obj)


def test_extra_roots_and_bones_without_length(scene):
    obj = arm()

    def add(bones):
        still = bones.new("control_root")
        still.head, still.tail = (1, 0, 0), (1, 1, 0)
        tiny = bones.new("tiny")
        tiny.head, tiny.tail = (0, 0, 1.5), (0, 0, 1.5001)
        tiny.parent = bones["bone2"]

    edit(obj, add)
    wave(obj)
    rig, _ = there_and_back(obj)
    assert set(rig.clip.skeleton.names) == {"bone0", "bone1", "bone2", "control_root", "tiny"}


def test_ik_is_read_as_it_looks_and_baked_on_a_copy(scene):
    obj = arm()
    wave(obj)
    goal = bpy.data.objects.new("Goal", None)
    scene.collection.objects.link(goal)
    for frame, place in ((1, (0.5, 0.2, 1)), (20, (-0.5, 0.4, 0.8))):
        goal.location = place
        goal.keyframe_insert("location", frame=frame)
    mesh = bpy.data.objects.new("Skin", bpy.data.meshes.new("Skin"))
    scene.collection.objects.link(mesh)
    mesh.modifiers.new("Armature", "ARMATURE").object = obj
    ik = obj.pose.bones["bone2"].constraints.new("IK")
    ik.target = goal
    before = read_rig(obj)
    free = read_rig_without(obj, ik)
    assert np.abs(before.clip.world()[0] - free.clip.world()[0]).max() > 0.05
    source = obj.animation_data.action
    written = write_take(obj, Take(before.clip), before, name="again")
    assert written.where == "COPY" and written.obj != obj
    assert obj.animation_data.action == source and len(obj.pose.bones["bone2"].constraints) == 1
    same(before, read_rig(written.obj))
    twins = [o for o in scene.objects if o.type == "MESH" and o.modifiers[0].object == written.obj]
    assert len(twins) == 1 and mesh.modifiers[0].object == obj


def read_rig_without(obj, constraint):
    constraint.mute = True
    try:
        return read_rig(obj)
    finally:
        constraint.mute = False


def test_drivers_are_read_and_make_a_copy(scene):
    obj = arm()
    wave(obj)
    curve = obj.driver_add('pose.bones["bone1"].rotation_euler', 0)
    curve.driver.expression = "frame / 20"
    before = read_rig(obj)
    assert rig_overrides_keys(obj)
    quats = np.array(before.clip.local_quat_wxyz)
    quats[:, 1] = multiply(quats[:, 1], from_rotation_vector(np.array([0.3, 0.0, 0.0])))
    take = Take(replace(before.clip, local_quat_wxyz=quats))
    written = write_take(obj, take, before, name="again")
    assert written.where == "COPY" and "on its own controls it would be" in written.match.why_not
    same(replace(before, clip=take.motion), read_rig(written.obj))


def test_nla_is_read_and_overridden(scene):
    obj = arm()
    action = wave(obj)
    obj.animation_data.action = None
    track = obj.animation_data.nla_tracks.new()
    strip = track.strips.new("low", 5, action)
    strip.action_slot = action.slots[0]
    before = read_rig(obj)
    assert before.frame_start == 5
    written = write_take(obj, Take(before.clip), before, name="again")
    assert written.where == "ACTION"
    same(before, read_rig(obj))


def test_as_an_nla_strip_with_the_source_kept(scene):
    obj = arm()
    source = wave(obj)
    before = read_rig(obj)
    moved = Clip(
        before.clip.skeleton, before.clip.fps, before.clip.local_pos + [0, 0, 0.25], before.clip.local_quat_wxyz
    )
    written = write_take(obj, Take(moved), before, name="again", where="NLA")
    assert obj.animation_data.action is None
    assert [s.action for t in obj.animation_data.nla_tracks if t.mute for s in t.strips] == [source]
    seen = read_rig(obj, frames=(1, 20))
    assert np.abs(seen.clip.world()[0][:, 0] - moved.world()[0][:, 0]).max() < 1e-4
    assert written.action.users >= 1


def test_sub_frames_at_another_rate(scene):
    obj = arm()
    wave(obj)
    scene.render.fps = 24
    slow, fast = read_rig(obj), read_rig(obj, fps=120)
    assert fast.clip.fps == 120 and len(fast.clip) == 5 * 19 + 1
    assert np.abs(fast.clip.world()[0][::5] - slow.clip.world()[0]).max() < 1e-5
    scene.frame_set(3, subframe=0.4)
    head = obj.matrix_world @ obj.pose.bones["bone2"].matrix.translation
    assert np.allclose(fast.clip.world()[0][12, fast.clip.skeleton.index("bone2")], head, atol=1e-5)
    write_take(obj, Take(fast.clip), fast, name="again", where="ACTION")
    same(slow, read_rig(obj))


def test_a_wrong_frame_rate_is_put_right_in_the_new_action(scene):
    obj = arm()
    action = wave(obj)
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    actions.add_curve(bag, "location", 0, "Object", 1, np.linspace(0, 5, 20))
    scene.render.fps = 120
    label = read_rig(obj)
    rig = read_rig(obj, true_fps=60)
    assert rig.clip.duration_s == pytest.approx(2 * label.clip.duration_s)
    written = write_take(obj, Take(rig.clip), rig, name="again", where="ACTION")
    assert tuple(written.action.frame_range) == (1, 39)
    again = read_rig(obj)
    assert np.abs(again.clip.world()[0][::2] - label.clip.world()[0]).max() < 1e-4


def test_the_source_is_untouched_and_not_lost(scene):
    obj = arm()
    source = wave(obj)
    before = digest(source)
    _, written = there_and_back(obj)
    assert digest(source) == before
    assert obj.animation_data.action == written.action != source
    assert obj.animation_data.action_slot == written.action.slots[0]
    assert source.use_fake_user or source.users > 0


def test_one_key_a_frame_and_no_flips(scene):
    obj = arm(bones=1)
    action, slot, bag = actions.new_action("Spin", obj)
    obj.pose.bones[0].rotation_mode = "XYZ"
    actions.add_curve(bag, 'pose.bones["bone0"].rotation_euler', 2, "bone0", 1, np.linspace(0, 8 * np.pi, 100))
    actions.assign(obj, action, slot)
    rig = read_rig(obj)
    obj.pose.bones[0].rotation_mode = "QUATERNION"
    written = write_take(obj, Take(rig.clip), rig, name="again", where="ACTION")
    curves = actions.curves_of(written.action, written.action.slots[0])
    for curve in curves:
        assert [k.co.x for k in curve.keyframe_points] == list(range(1, 101))
    quats = np.array([[k.co.y for k in c.keyframe_points] for c in curves if "quaternion" in c.data_path])
    assert np.sum(quats[:, 1:] * quats[:, :-1], axis=0).min() > 0.9
    obj.pose.bones[0].rotation_mode = "XYZ"
    written = write_take(obj, Take(rig.clip), rig, name="euler", where="ACTION")
    angles = np.array(
        [
            [k.co.y for k in c.keyframe_points]
            for c in actions.curves_of(written.action, written.action.slots[0])
            if "euler" in c.data_path
        ]
    )
    assert np.abs(np.diff(angles)).max() < 1.0


def test_what_is_not_simulated_rides_along(scene):
    obj = arm(bones=4)
    wave(obj)
    rig = read_rig(obj)
    turned = np.array(rig.clip.local_quat_wxyz)
    turned[:, 1] = multiply(turned[:, 1], from_rotation_vector(np.array([0.6, 0.0, 0.2])))
    moved = Clip(rig.clip.skeleton, rig.clip.fps, rig.clip.local_pos, turned)
    result = copy_unsimulated_bones(rig.clip, moved, {"bone0", "bone1"})
    write_take(obj, Take(result), rig, name="again", where="ACTION")
    again = read_rig(obj).clip
    assert angle_between(again.local_quat_wxyz[:, 1], moved.local_quat_wxyz[:, 1]).max() < 1e-4
    assert angle_between(again.local_quat_wxyz[:, 2:], rig.clip.local_quat_wxyz[:, 2:]).max() < 1e-4


def test_another_action_is_read_without_a_trace(scene):
    obj = arm()
    first = wave(obj, "First")
    second = wave(obj, "Second", seed=1)
    obj.hide_set(True)
    scene.frame_set(5)
    read_rig(obj, action=first)
    assert obj.animation_data.action == second and obj.animation_data.action_slot == second.slots[0]
    assert scene.frame_current == 5 and obj.hide_get()


def test_pose_markers_become_style_tags(scene):
    obj = arm()
    action = wave(obj)
    for name, frame in (("sad", 3), ("-", 8), ("happy", 12)):
        action.pose_markers.new(name).frame = frame
    tags = [(tag.name, tag.start, tag.stop) for tag in read_rig(obj).clip.tags]
    assert tags == [("sad", 2, 7), ("happy", 11, 20)]


def test_a_failed_write_leaves_nothing(scene, monkeypatch):
    obj = arm()
    wave(obj)
    rig = read_rig(obj)
    before = (set(bpy.data.actions), set(bpy.data.objects), obj.animation_data.action)

    def broken(*_):
        raise ValueError("no")

    monkeypatch.setattr("sinew.bridge.rig.keying.actions.add_curve", broken)
    for where in ("ACTION", "NLA", "COPY"):
        with pytest.raises(ValueError, match="no"):
            write_take(obj, Take(rig.clip), rig, name="again", where=where)
        assert (set(bpy.data.actions), set(bpy.data.objects), obj.animation_data.action) == before


def test_bone_roll_and_rest_rotation_do_not_matter(scene):
    obj = arm()
    wave(obj)
    obj.data.transform(Matrix.Rotation(1.0, 4, Euler((1, 2, 3)).to_quaternion().axis))
    edit(obj, lambda bones: [setattr(bone, "roll", bone.roll + 1.1) for bone in bones])
    there_and_back(obj)


def test_what_was_posed_by_hand_and_not_keyed_is_still_there(scene):
    obj = arm()
    wave(obj)
    scene.frame_set(4)
    obj.pose.bones["bone1"].rotation_euler = (0.1, 0.2, 0.3)
    obj.location = (1, 2, 3)
    read_rig(obj)
    assert tuple(obj.pose.bones["bone1"].rotation_euler) == pytest.approx((0.1, 0.2, 0.3))
    assert tuple(obj.location) == (1, 2, 3)
