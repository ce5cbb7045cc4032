# SPDX-License-Identifier: GPL-3.0-or-later
"""Mocap read from its keys is what Blender shows; whatever is not that plain is left to Blender."""

import bpy
import numpy as np
import pytest

from sinew.bridge.rig import actions, rig_reader
from sinew.bridge.rig.key_reading import KeyReading, can_read_keys
from sinew.bridge.rig.rig_reader import RigReading, read_rig
from sinew.bridge.rig.rig_sampling import RigSampling

from ..helpers.interface import hero, simulate, tick_to_end
from ..helpers.rigs import arm, wave

MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


def keyed(obj, bone, channel, values):
    """Key a bone's channel at every frame with values (T, n)."""
    bag = _bag(obj)
    for component, column in enumerate(np.asarray(values).T):
        actions.add_curve(bag, obj.pose.bones[bone].path_from_id(channel), component, bone, 1, column)


def _bag(obj):
    return obj.animation_data.action.layers[0].strips[0].channelbag(obj.animation_data.action_slot)


def from_keys(obj, frames=20):
    """(T, B, 4, 4) by the keys, None if they do not tell."""
    places = 1.0 + np.arange(frames)
    if not can_read_keys(bpy.context.scene, obj, obj.animation_data.action, places):
        return None
    action = obj.animation_data.action
    reading = KeyReading(obj, action, places, without_takes=False)
    done = False
    while done is False:
        done = reading.advance(obj, action, 0.0)
    return reading.poses() if done else None


def from_blender(obj, frames=20):
    """(T, B, 4, 4) as Blender evaluates it."""
    sampling = RigSampling(obj, None, 1.0 + np.arange(frames))
    sampling.advance()
    return sampling.pose


def assert_same(obj):
    found = from_keys(obj)
    assert found is not None
    np.testing.assert_allclose(found, from_blender(obj), atol=3e-6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("connected", [True, False])
def test_every_way_of_turning(scene, mode, connected):
    obj = arm(bones=4, connected=connected)
    wave(obj)
    rng = np.random.default_rng(3)
    obj.pose.bones[1].rotation_mode = obj.pose.bones[2].rotation_mode = mode
    size = 4 if mode in ("QUATERNION", "AXIS_ANGLE") else 3
    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    if size == 4:  # the waves are in the channel that does not count any more
        keyed(obj, "bone1", channel, rng.uniform(-2, 2, (20, 4)))
        keyed(obj, "bone2", channel, rng.uniform(-2, 2, (20, 4)))
    keyed(obj, "bone1", "scale", rng.uniform(0.5, 1.5, (20, 3)))
    if not connected:
        keyed(obj, "bone2", "location", rng.uniform(-1, 1, (20, 3)))
    obj.pose.bones[3].rotation_mode = "XYZ"
    assert_same(obj)


def test_what_is_posed_and_not_keyed_counts(scene):
    obj = arm(connected=False)
    wave(obj, location=False)
    obj.pose.bones[0].location = (0.3, -0.2, 0.1)
    obj.pose.bones[1].scale = (1.0, 2.0, 0.5)
    obj.location, obj.rotation_euler, obj.scale = (1, 2, 3), (0.1, 0.2, 0.3), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert_same(obj)
    reading = RigReading(obj)
    assert reading.advance() and reading._keys is not None
    expected = RigReading(obj)
    expected._keys = None
    assert expected.advance()
    ours, theirs = reading.finish(), expected.finish()
    for one, other in zip(ours.clip.world(), theirs.clip.world(), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)
    np.testing.assert_allclose(ours.bone_stretch, theirs.bone_stretch, atol=1e-5)


def test_a_quaternion_of_any_length(scene):
    obj = arm()
    wave(obj)
    obj.pose.bones[1].rotation_mode = "QUATERNION"
    values = np.random.default_rng(0).normal(size=(20, 4)) * 7.0
    values[4] = 0.0
    keyed(obj, "bone1", "rotation_quaternion", values)
    assert_same(obj)


def test_one_key_is_for_all_frames(scene):
    obj = arm()
    wave(obj)
    keyed(obj, "bone1", "scale", [[1.5, 0.5, 2.0]])
    assert_same(obj)


def test_bones_with_quotes_in_their_names(scene):
    obj = arm()
    wave(obj)
    obj.pose.bones[1].name = 'the "left" \\ one'
    bpy.context.view_layer.update()
    assert_same(obj)


def _constrained(obj):
    obj.pose.bones[1].constraints.new("LIMIT_ROTATION")


def _driven(obj):
    obj.pose.bones[1].driver_add("location", 0)


def _in_the_nla(obj):
    """A strip below the Action moves what that does not."""
    action = _strip_below(obj).action
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    actions.add_curve(bag, obj.pose.bones[1].path_from_id("scale"), 0, "bone1", 1, np.arange(20.0))


def _strip_below(obj):
    """A strip of an Action like the assigned one, in other poses."""
    data = obj.animation_data
    other = data.action.copy()
    for curve in other.layers[0].strips[0].channelbag(other.slots[0]).fcurves:
        for point in curve.keyframe_points:
            point.co.y *= 0.5
    strip = data.nla_tracks.new().strips.new("Other", 1, other)
    strip.action_slot = other.slots[0]
    return strip


def _added_to_the_nla(obj):
    _strip_below(obj)
    obj.animation_data.action_blend_type = "ADD"


def _shown_over_by_a_solo_track(obj):
    _strip_below(obj)
    obj.animation_data.nla_tracks[0].is_solo = True


def _only_within_its_frames(obj):
    _strip_below(obj)
    obj.animation_data.action_extrapolation = "NOTHING"


def _carried(obj):
    obj.parent = arm("Other")


def _held(obj):
    obj.constraints.new("COPY_LOCATION")


def _scales_otherwise(obj):
    obj.pose.bones[1].bone.inherit_scale = "NONE"


def _turns_otherwise(obj):
    obj.pose.bones[1].bone.use_inherit_rotation = False


def _moved_as_a_whole(obj):
    actions.add_curve(_bag(obj), "location", 0, "Object", 1, np.arange(20.0))


def _muted(obj):
    _bag(obj).fcurves[3].mute = True


def _modified(obj):
    _bag(obj).fcurves[3].modifiers.new("NOISE")


def _with_a_gap(obj):
    points = _bag(obj).fcurves[3].keyframe_points
    points.remove(points[7])


def _connected_and_moved(obj):
    keyed(obj, "bone1", "location", np.full((20, 3), 0.2))


def _timed_anew(obj):
    bpy.context.scene.render.frame_map_new = 200


def _mode_keyed(obj):
    actions.add_curve(_bag(obj), obj.pose.bones[1].path_from_id("rotation_mode"), 0, "bone1", 1, np.full(20, 1.0))


@pytest.mark.parametrize(
    "change",
    [
        _constrained,
        _driven,
        _in_the_nla,
        _added_to_the_nla,
        _shown_over_by_a_solo_track,
        _only_within_its_frames,
        _carried,
        _held,
        _scales_otherwise,
        _turns_otherwise,
        _moved_as_a_whole,
        _muted,
        _modified,
        _with_a_gap,
        _connected_and_moved,
        _timed_anew,
        _mode_keyed,
    ],
)
def test_what_is_not_plain_is_left_to_blender(scene, change):
    obj = arm()
    wave(obj)
    assert from_keys(obj) is not None
    change(obj)
    assert from_keys(obj) is None
    reading = RigReading(obj, frames=(1, 20))
    while not reading.advance(0.0):
        pass
    assert reading._keys is None
    expected = from_blender(obj)
    np.testing.assert_array_equal(reading._sampling.pose, expected)


def test_what_is_muted_in_the_nla_does_not_count(scene):
    obj = arm()
    wave(obj)
    track = obj.animation_data.nla_tracks.new()
    track.strips.new("Wave", 5, obj.animation_data.action)
    track.mute = True
    assert_same(obj)


def test_what_the_action_plays_over_does_not_count(scene):
    obj = arm()
    wave(obj)
    _strip_below(obj)
    assert_same(obj)


def test_a_source_is_read_from_its_keys_while_its_take_is_in_the_nla(addon):
    obj = hero()
    source = RigReading(obj, action=bpy.data.actions["Wave"], without_takes=True)
    source.advance()
    before = source.finish().clip.world()
    bpy.context.scene.sinew.place = "NLA"
    simulate()
    tick_to_end()
    assert obj.animation_data.action is None and obj.animation_data.nla_tracks
    reading = RigReading(obj, action=bpy.data.actions["Wave"], without_takes=True)
    assert reading.advance() and reading._keys is not None
    for one, other in zip(reading.finish().clip.world(), before, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert RigReading(obj, frames=(1, 20))._keys is None  # what the strip shows, only Blender knows


def test_between_frames_blender_is_asked(scene):
    obj = arm()
    wave(obj)
    assert not can_read_keys(bpy.context.scene, obj, obj.animation_data.action, np.array([1.0, 1.5]))
    assert len(read_rig(obj, fps=2 * bpy.context.scene.render.fps).clip) == 39


def test_what_a_handler_may_move_is_left_to_blender(scene):
    obj = arm()
    wave(obj)

    def handler(*_):
        pass

    bpy.app.handlers.frame_change_post.append(handler)
    try:
        assert from_keys(obj) is None
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)
    assert from_keys(obj) is not None


def test_an_action_that_goes_while_it_is_read_is_told(scene):
    obj = arm()
    wave(obj)
    reading = RigReading(obj, action=obj.animation_data.action)
    assert reading.advance(0.0) is False
    bpy.data.actions.remove(obj.animation_data.action)
    with pytest.raises(rig_reader.RigError, match="went while it was read"):
        reading.advance(0.0)
