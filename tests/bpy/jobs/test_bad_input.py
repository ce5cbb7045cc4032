# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be simulated is refused with a message that names the thing and the fix, and nothing changes."""

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import open_input
from sinew.bridge.jobs import requests
from sinew.bridge.rig import actions
from sinew.bridge.rig.rig_reader import read_rig
from sinew.bridge.scene.saving import save_blend
from sinew.core.errors import BadFile, BadMotion, CannotWrite, RigError
from sinew.core.motion.io import npz

from ..helpers.rigs import arm, digest, wave


def refusal(kind, *words):
    """Expect an error of that kind whose text, hint included, has all the words."""
    return pytest.raises(kind, match="".join(f"(?=.*{word})" for word in words))


def test_no_armature(scene):
    with refusal(RigError, "no armature", "Add or import"):
        requests.find_armature()
    scene.collection.objects.link(bpy.data.objects.new("Cube", None))
    with refusal(RigError, "'Hero'", "no armature"):
        requests.find_armature("Hero")
    with refusal(RigError, "'Cube' is not an armature", "Select an armature"):
        read_rig(bpy.data.objects["Cube"])


def test_several_armatures_are_named(scene):
    arm("A")
    arm("B")
    with refusal(RigError, "'A'", "'B'", "--armature"):
        requests.find_armature()


def test_no_action_and_an_unknown_one(scene):
    obj = arm()
    with refusal(RigError, "'Arm' has no Action", "Action Editor"):
        read_rig(obj)
    wave(obj)
    with refusal(RigError, "no Action 'Run'", "'Wave'"):
        requests.read(requests.Request("Arm", "Run"))


def test_an_empty_action(scene):
    obj = arm()
    action, slot, _ = actions.new_action("Nothing", obj)
    actions.assign(obj, action, slot)
    with refusal(RigError, "'Nothing' has no keys", "Choose an Action"):
        read_rig(obj)


def test_an_action_of_something_else(scene):
    obj = arm()
    other = bpy.data.actions.new("Shape")
    other.slots.new(id_type="KEY", name="Key")
    with refusal(RigError, "'Shape' has no keys for 'Arm'"):
        read_rig(obj, action=other)


def test_one_frame(scene):
    obj = arm()
    wave(obj, frames=1)
    with refusal(RigError, "'Wave' has only one frame", "at least two"):
        read_rig(obj)


def test_a_three_frame_clip_is_read_but_not_simulated(scene):
    obj = arm()
    wave(obj, frames=3)
    assert len(read_rig(obj).clip) == 3
    with refusal(BadMotion, "'Wave' is too short", "3 frames", "at least"):
        requests.read(requests.Request("Arm"))


def test_keys_that_are_not_numbers(scene):
    obj = arm()
    action = wave(obj)
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    curve = next(c for c in bag.fcurves if "bone1" in c.data_path)
    curve.keyframe_points[4].co.y = np.nan
    before = digest(action)[0]
    with refusal(RigError, "'bone1'", "not a number", "frame 5", "Graph Editor"):
        read_rig(obj)
    assert digest(action)[0] == before


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_zero_or_negative_scale(scene, scale):
    obj = arm()
    wave(obj)
    with refusal(RigError, "scale", "above zero"):
        read_rig(obj, scale=scale)
    with refusal(RigError, "scale", "above zero"):
        open_input("walk", scale)


def test_an_object_scaled_to_nothing_or_mirrored(scene):
    obj = arm()
    wave(obj)
    obj.scale = (0, 1, 1)
    bpy.context.view_layer.update()
    with refusal(RigError, "'Arm' has a scale of zero", "scale to 1"):
        read_rig(obj)
    obj.scale = (-1, 1, 1)
    bpy.context.view_layer.update()
    with refusal(RigError, "'Arm' is mirrored", "Apply"):
        read_rig(obj)


def test_rest_position_edit_mode_and_tweak_mode(scene):
    obj = arm()
    action = wave(obj)
    obj.data.pose_position = "REST"
    with refusal(RigError, "Rest Position", "Pose Position"):
        read_rig(obj)
    obj.data.pose_position = "POSE"
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    with refusal(RigError, "Edit Mode", "Tab"):
        read_rig(obj)
    bpy.ops.object.mode_set(mode="OBJECT")
    strip = obj.animation_data.nla_tracks.new().strips.new("s", 1, action)
    strip.action_slot = action.slots[0]
    obj.animation_data.action = None
    strip.select = True
    obj.animation_data.nla_tracks[0].select = True
    obj.animation_data.nla_tracks.active = obj.animation_data.nla_tracks[0]
    obj.animation_data.use_tweak_mode = True
    assert obj.animation_data.use_tweak_mode
    with refusal(RigError, "tweak mode", "Tab"):
        requests.read(requests.Request("Arm"))


def test_an_armature_outside_the_view_layer(scene):
    obj = arm()
    wave(obj)
    scene.collection.objects.unlink(obj)
    with refusal(RigError, "'Arm' is not in this view layer", "Outliner"):
        read_rig(obj)


def test_a_library_linked_armature(scene, tmp_path):
    obj = arm("Hero")
    wave(obj)
    library = tmp_path / "hero.blend"
    save_blend(library)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Hero"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.update()
    with refusal(RigError, "'Hero' is linked from", "library override", "copy"):
        requests.read(requests.Request("Hero"))
    # The way that the message offers works.
    assert requests.read(requests.Request("Hero", place="COPY")).clip.name == "Wave"


@pytest.mark.parametrize("ending", [".blend", ".bvh", ".fbx", ".glb", ".npz"])
def test_missing_and_broken_files(scene, tmp_path, ending):
    with refusal(BadFile, "gone", "does not exist"):
        open_input(str(tmp_path / f"gone{ending}"))
    broken = tmp_path / f"broken{ending}"
    broken.write_bytes(b"\x00\x01 this is nothing" * 20)
    with refusal(BadFile, "broken"):
        open_input(str(broken))


def test_a_truncated_npz(scene, tmp_path):
    obj = arm()
    wave(obj)
    path = tmp_path / "clip.npz"
    npz.save_clip(path, read_rig(obj).clip)
    path.write_bytes(path.read_bytes()[:-200])
    with refusal(BadFile, "clip.npz", "not a whole"):
        open_input(str(path))


def test_neither_a_file_nor_a_stock_clip(scene):
    with refusal(BadFile, "'wlak'", "stock clip", "walk"):
        open_input("wlak")


def test_saving_where_nothing_can_be_saved(scene, tmp_path):
    (tmp_path / "file").write_text("")
    with refusal(CannotWrite, "file"):
        save_blend(tmp_path / "file" / "scene.blend")


def test_saving_on_a_full_disk_keeps_the_old_file(scene, tmp_path, monkeypatch):
    path = tmp_path / "scene.blend"
    save_blend(path)
    whole = path.read_bytes()

    def full(*_, **__):
        raise RuntimeError("Error: Cannot open file: No space left on device")

    arm()
    monkeypatch.setattr("sinew.bridge.scene.saving._save_copy", full)
    with refusal(CannotWrite, "scene.blend", "No space left", "Free some space"):
        save_blend(path)
    assert path.read_bytes() == whole and [p.name for p in tmp_path.iterdir()] == ["scene.blend"]


def test_a_path_with_spaces_and_accents(scene, tmp_path):
    obj = arm()
    wave(obj)
    folder = tmp_path / "Ânimation très belle 動き"
    path = folder / "schöne Szene.blend"
    save_blend(path)
    open_input(str(path))
    clip = requests.read(requests.Request("Arm")).clip
    npz.save_clip(folder / "клип один.npz", clip)
    open_input(str(folder / "клип один.npz"))
    again = requests.read(requests.Request("")).clip
    assert np.abs(again.world()[0] - clip.world()[0]).max() < 1e-4
