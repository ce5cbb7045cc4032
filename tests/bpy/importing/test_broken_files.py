# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's importers fall over is told on one line with its cause, and nothing of it reaches the terminal."""

import bpy
import numpy as np
import pytest

from sinew.bridge.importing.importers import open_input, show_clip
from sinew.bridge.rig import actions, rig_reader
from sinew.bridge.rig.armatures import armature_from_skeleton
from sinew.bridge.rig.rig_reader import RigReading, read_rig, read_rig_in_slices
from sinew.bridge.scene.time_slicing import run_all_slices
from sinew.core.errors import BadFile, BadMotion, RigError, SinewError
from sinew.core.motion import Clip, Skeleton
from sinew.core.motion.io import npz
from sinew.core.motion.plain_walk import plain_walk


def walker(mode="QUATERNION"):
    """A short walk on an armature; gives both."""
    clip = plain_walk().frames(0, 12)
    obj = armature_from_skeleton(clip.skeleton, "Walker", bpy.context.scene.collection)
    for bone in obj.pose.bones:
        bone.rotation_mode = mode
    return obj, show_clip(clip, obj)


@pytest.fixture
def exported(scene, tmp_path):
    """The walk as Blender writes it: a function of the ending."""

    def write(ending):
        obj, _ = walker()
        bpy.context.view_layer.objects.active = obj
        obj.select_set(True)
        path = tmp_path / f"walk{ending}"
        if ending == ".bvh":
            bpy.ops.export_anim.bvh(filepath=str(path))
        elif ending == ".fbx":
            bpy.ops.export_scene.fbx(filepath=str(path))
        else:
            bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLB")
        return path

    return write


def said_of(path):
    """What opening the file is refused with; '' if it is not."""
    try:
        open_input(str(path))
    except SinewError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("ending", [".bvh", ".fbx", ".glb"])
def test_files_that_are_cut_short_or_overwritten_are_told_on_one_line(exported, ending, capfd):
    path = exported(ending)
    whole = path.read_bytes()
    rng, refused = np.random.default_rng(5), 0
    for number in range(25):
        damaged = bytearray(whole)
        at = int(rng.integers(len(whole)))
        if number % 2:
            del damaged[at:]
        else:
            damaged[at : at + 30] = bytes(30)
        path.write_bytes(bytes(damaged))
        capfd.readouterr()
        said = said_of(path)
        assert "\n" not in said and "Traceback" not in said and "Location" not in said
        assert not said or str(path) in said
        refused += bool(said)
        out, err = capfd.readouterr()
        # The importers' own log goes to the stream that pytest had when they were loaded.
        assert "Traceback" not in out + err and "Error" not in out + err
    assert refused > 10


def test_what_only_the_importer_finds_is_told_by_its_last_words(exported, monkeypatch):
    path = exported(".bvh")
    lines = ["Error: Python: Traceback (most recent call last):", '  File "x.py", line 3', "KeyError: 'hips'", ""]

    def fall_over(*_):
        raise RuntimeError("\n".join([*lines, "Location: bpy/ops.py:109"]))

    monkeypatch.setitem(open_input.__globals__["_READERS"], ".bvh", fall_over)
    with pytest.raises(BadFile, match=r"stopped with KeyError: 'hips'\. Export") as caught:
        open_input(str(path))
    assert "Location" not in str(caught.value) and "Traceback" not in str(caught.value)


def test_a_frame_time_in_milliseconds_is_told_before_anything_is_taken(exported):
    path = exported(".bvh")
    text = path.read_text()
    start = text.index("Frame Time:")
    line = text[:start].count("\n") + 1
    path.write_text(text[:start] + "Frame Time: 33.333\n" + text[text.index("\n", start) + 1 :])
    with pytest.raises(BadFile, match=rf"line {line}: the Frame Time is 33.333 s.*milliseconds: write 0.033333"):
        open_input(str(path))


def test_paths_and_scales_beyond_reason(scene):
    for text in ("x" * 400 + ".bvh", "a\0b.bvh", "\udce9.bvh"):
        with pytest.raises(BadFile):
            open_input(text)
    for scale in (1e300, 1e-300):
        with pytest.raises(RigError, match="The scale is 1e"):
            open_input("walk", scale)


@pytest.mark.parametrize("name", ["n" * 64, "é" * 32, "nul\0byte"])
def test_names_that_blender_would_cut_are_refused(scene, tmp_path, name):
    walk = plain_walk().frames(0, 5)
    rest = walk.skeleton
    names = tuple(name if bone == "head" else bone for bone in rest.names)
    skeleton = Skeleton(names, rest.parents, rest.rest_pos, rest.rest_quat_wxyz, rest.lengths)
    npz.save_clip(tmp_path / "walk.npz", Clip(skeleton, 24.0, walk.local_pos, walk.local_quat_wxyz, "walk"))
    with pytest.raises(RigError, match="bytes, and Blender's have 1 to 63"):
        open_input(str(tmp_path / "walk.npz"))


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize(("value", "words"), [(float("nan"), "not a number"), (1e38, r"a key of 1e\+38")])
def test_rotations_that_are_no_numbers_are_told_like_positions(scene, plain, mode, value, words):
    obj, action = walker(mode)
    if not plain:  # so that Blender has to evaluate it
        obj.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    curves = [one for one in bag.fcurves if "thigh.L" in one.data_path and "rotation" in one.data_path]
    curves[1].keyframe_points[4].co.y = value
    with pytest.raises(RigError, match=f"'thigh.L'.*{words} at frame 5.*Graph Editor"):
        read_rig(obj)
    with pytest.raises(RigError, match=f"'thigh.L'.*{words} at frame 5"):
        run_all_slices(read_rig_in_slices(obj, None, None, None, 1.0, slice_s=0.0))


def test_frames_that_blender_has_not_are_refused_before_memory_is_taken(scene):
    obj, _ = walker()
    with pytest.raises(RigError, match=r"frame 1000000000000.*last is 1048574"):
        read_rig(obj, frames=(1, 10**12))
    with pytest.raises(BadMotion, match="poses of bones"):
        read_rig(obj, frames=(1, 1_000_000))
    with pytest.raises(BadMotion, match="frames"):
        read_rig(obj, fps=1e9)
    with pytest.raises(BadMotion, match=r"frame rate of 0.03\b.*milliseconds"):
        read_rig(obj, true_fps=0.03)
    scene.render.fps, scene.render.fps_base = 1, 1e6
    with pytest.raises(BadMotion, match="frame rate of 1e-06"):
        read_rig(obj)


def test_one_key_astray_is_told_before_there_is_memory_for_hours(scene):
    obj, action = walker()
    curve = actions.curves_of(action, actions.slot_for(action, obj))[0]
    curve.keyframe_points.insert(-400_000.0, 0.0)
    with pytest.raises(BadMotion, match=r"has only \d+ keys for 4000\d\d frames.*Delete keys that lie far out"):
        RigReading(obj)
    assert len(read_rig(obj, frames=(1, 12)).clip) == 12


def test_a_motion_that_is_converted_in_blocks_is_the_same_to_the_bit(scene, monkeypatch):
    obj, _ = walker()
    whole = read_rig(obj, fps=50.0)
    monkeypatch.setattr(rig_reader, "_BLOCK_POSES", 1)
    again = read_rig(obj, fps=50.0)
    for name in ("local_pos", "local_quat_wxyz"):
        np.testing.assert_array_equal(getattr(whole.clip, name), getattr(again.clip, name))
    np.testing.assert_array_equal(whole.bone_stretch, again.bone_stretch)


def test_a_key_at_a_frame_that_is_no_number_is_told_and_no_panel_falls_over_it(scene):
    obj, action = walker()
    slot = actions.slot_for(action, obj)
    curve = actions.curves_of(action, slot)[0]
    curve.keyframe_points[len(curve.keyframe_points) - 1].co.x = float("nan")
    assert actions.frame_range(action, slot) == (1, 12)
    with pytest.raises(RigError, match=r"has a key of '.*' at a frame that is not a number. Delete that key"):
        read_rig(obj)
    action.use_frame_range = True
    action.frame_start = float("nan")
    assert actions.frame_range(action, slot) in (None, (1, 12))


def test_what_is_there_but_no_file_is_not_said_to_be_missing(scene, tmp_path):
    (tmp_path / "walk.bvh").mkdir()
    assert "is no file" in said_of(tmp_path / "walk.bvh") and "does not exist" in said_of(tmp_path / "run.bvh")
