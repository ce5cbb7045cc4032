# SPDX-License-Identifier: GPL-3.0-or-later
"""Broken BVH, FBX and glTF files are told by their true cause and place; whole ones pass."""

import json
import struct

import pytest

from sinew.core.motion.io.bvh import load_bvh
from sinew.core.motion.io.bvh_check import check_bvh
from sinew.core.motion.io.fbx_check import check_fbx
from sinew.core.motion.io.gltf_check import check_gltf

from .written_files import BVH, fbx, gltf, packed, refused, written


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("HIERARCHY", "HIERARCHI", ("line 1", "HIERARCHY")),
        ("ROOT Hips\n", "ROOT\n", ("line 2", "ROOT has no name")),
        ("Hips\n{", "Hips {", ("line 3", "'OFFSET'", "'{'")),
        ("0.1 0.4 0.0", "0.1 0,4 0.0", ("line 8", "Y offset of 'Left_Arm'", "'0,4'", "no number")),
        ("0.1 0.4 0.0", "0.1 0.4", ("line 8", "OFFSET of 'Left_Arm'")),
        ("0.1 0.4 0.0", "0.1 nan 0.0", ("line 8", "not a number")),
        ("0.1 0.4 0.0", "0.1 1e300 0.0", ("line 8", "1e+300")),
        ("CHANNELS 3 Zrotation Xrotation", "CHANNELS 2 Xrotation", ("line 9", "'Left_Arm'", "three rotations")),
        ("MOTION", "}\nMOTION", ("line 16", "closes nothing")),
        ("End Site", "End Sight", ("line 10", "'End'")),
        ("HIERARCHY", "\ufeffHIERARCHY", ("line 1", "byte order mark")),
        ("CHANNELS 6", "CHANNELS 0", ("line 5", "'Hips'", "'0' channels", "6 are named")),
        ("CHANNELS 3", "CHANNELS 999999999", ("line 9", "'999999999' channels", "3 are named")),
        ("CHANNELS 3", "CHANNELS 13" + 10 * " Xscale", ("line 9", "'Left_Arm' has 13 channels", "9 is the most")),
        ("CHANNELS 3", "CHANNELS -3", ("line 9", "'-3' channels")),
        ("}\nMOTION", "MOTION", ("line 15", "1 '}' are missing")),
        ("JOINT Left Arm", "JOINT " + "é" * 40, ("line 6", "80 bytes", "63", "shorter name")),
        ("3 4 5 6\n0", "3 4 5 6 7\n0", ("line 19", "frame 1 has 10 numbers", "9 channels")),
        ("3 4 5 6\n0", "3 4 5 " + "9" * 400 + "\n0", ("line 19", "not a number (9999", "9...)")),
        ("MOTION\n", "", ("line 16", "'Frames:'", "MOTION")),
        ("Frames: 2", "Frames: two", ("line 17", "'two'")),
        ("Frames: 2", "Frames: 99999999999", ("line 17", "99999999999", "1048574")),
        ("0.0333333", "33.333", ("line 18", "33.333", "0.03 frames a second", "milliseconds", "0.033333")),
        ("0.0333333", "1000000", ("line 18", "1000000", "seconds from frame to frame")),
        ("0.0333333", "1e-9", ("line 18", "1e+09 frames a second")),
        ("0.0333333", "0", ("line 18", "Frame Time is 0")),
        ("0.0333333", "-0.04", ("line 18", "Frame Time is -0.04")),
        ("0.0333333", "inf", ("line 18", "not a number")),
        ("3 4 5 6\n0", "3 4 nan 6\n0", ("line 19", "frame 1", "X rotation of 'Left_Arm'", "not a number")),
        ("3 4 5 6\n0", "3 4 5 1e300\n0", ("line 19", "Y rotation of 'Left_Arm'", "1e+300")),
        ("3 4 5 6\n0 0.9", "3 4 5 6\n-inf 0.9", ("line 20", "frame 2", "X position of 'Hips'")),
        ("0 0.9 0 1 2 3 4 5 6\n0 0.9 0 1 2 3 4 5 6\n", "0 0.9 0 1 2 3 4 5 6\n0 0.9 0\n", ("line 20", "3 numbers", "9")),
        ("0 0.9 0 1 2 3 4 5 6\n0 0.9 0 1 2 3 4 5 6\n", "", ("no frames",)),
    ],
)
def test_a_broken_bvh_is_told_by_its_line(tmp_path, old, new, words):
    path = tmp_path / "walk.bvh"
    assert old in BVH
    path.write_text(BVH.replace(old, new, 1), encoding="utf-8")
    refused(check_bvh, path, str(path), *words)


def test_a_whole_bvh_passes_however_it_is_written(tmp_path):
    path = tmp_path / "walk.bvh"
    for text in (BVH, BVH.replace("\n", "\r\n"), BVH.replace("\n", "\r"), BVH.replace("\n", "\n\n"), BVH.lower()):
        path.write_bytes(text.encode())
        check_bvh(path)


def test_a_bvh_that_is_cut_anywhere_is_refused_or_whole(tmp_path):
    path = tmp_path / "walk.bvh"
    for end in range(0, BVH.index("0 0.9 0 1 2 3 4 5 6"), 3):
        path.write_text(BVH[:end], encoding="utf-8")
        refused(check_bvh, path, "line")


def test_a_joint_called_motion_is_told_without_blender_as_well(tmp_path):
    """Where a library looks for the word, as Blender's importer does not."""
    path = tmp_path / "walk.bvh"
    path.write_text(BVH.replace("JOINT Left Arm", "JOINT MOTION Arm"), encoding="utf-8")
    refused(load_bvh, path, str(path))


def test_real_files_pass(shared_mocap):
    checks = {".bvh": check_bvh, ".fbx": check_fbx, ".glb": check_gltf}
    files = [path for path in sorted(shared_mocap.rglob("*.*")) if path.suffix in checks and path.stat().st_size < 7e5]
    assert {path.suffix for path in files} == {".bvh", ".glb"} and len(files) > 20
    for path in (*files, *(shared_mocap / "fbx").glob("*.fbx")):
        checks[path.suffix](path)


def test_a_whole_fbx_passes(tmp_path):
    path = tmp_path / "walk.fbx"
    path.write_bytes(fbx([packed([0.0, 1.0]), b"I" + struct.pack("<i", 3), b"S" + struct.pack("<I", 2) + b"ab"]))
    check_fbx(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("does not begin as an FBX",)),
        (b"; FBX 7.4.0 project file", ("text form", "binary FBX")),
        (b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", 6100), ("version 6100",)),
        (fbx([b"I\0\0\0\0"])[:-20], ("byte", "node")),
        (fbx([])[:27] + b"\0" * 200, ("has no GlobalSettings",)),
        (fbx([]).replace(b"Connections", b"Konnections"), ("has no Connections",)),
        (fbx([b"q\0\0\0\0"]), ("byte 47", "no kind of property b'q'")),
        (fbx([b"S" + struct.pack("<I", 10**9)]), ("byte 47", "outside its node")),
        (fbx([packed([0.0] * 100, says=10)]), ("byte 47", "10 numbers has more than 80 bytes")),
        (fbx([packed([0.0], says=4 * 10**9)]), ("byte 47", "arrays of more than 64 MB")),
        (fbx([b"d" + struct.pack("<III", 1, 1, 4) + b"\x78\x9c\xff\xff"]), ("byte 47", "cannot be unpacked")),
        (fbx([b"d" + struct.pack("<III", 2, 0, 8) + b"\0" * 8]), ("byte 47", "2 numbers has 8 bytes instead of 16")),
    ],
)
def test_a_broken_fbx_is_told_by_its_byte(tmp_path, content, words):
    path = tmp_path / "walk.fbx"
    path.write_bytes(content)
    refused(check_fbx, path, str(path), *words)


def test_a_whole_gltf_passes(tmp_path):
    check_gltf(written(tmp_path / "walk.gltf", gltf()))
    text = json.dumps(gltf()).encode()
    text += b" " * (-len(text) % 4)
    path = tmp_path / "walk.glb"
    path.write_bytes(b"glTF" + struct.pack("<IIII", 2, 20 + len(text), len(text), 0x4E4F534A) + text)
    check_gltf(path)


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        (("nodes", 0, "children"), [7], ("nodes.0.children.0", "7", "2 nodes")),
        (("nodes", 1, "children"), [0], ("itself",)),
        (("nodes", 0, "children"), [0], ("nodes.0.children", "elsewhere")),
        (("nodes", 1, "rotation"), [0, 0, 1e300, 1], ("nodes.1.rotation", "4 numbers")),
        (("skins", 0, "joints"), ["Hips"], ("skins.0.joints.0", "'Hips'")),
        (("accessors", 1, "count"), 3, ("accessors.1", "36 bytes", "24")),
        (("accessors", 1, "count"), 10**15, ("accessors.1.count", "1000000000000000")),
        (("accessors", 1, "type"), "VEC9", ("accessors.1", "VEC9")),
        (("bufferViews", 1, "byteLength"), 99, ("bufferViews.1", "107")),
        (("buffers", 0, "byteLength"), 10**12, ("buffers.0.byteLength", "1000000000000")),
        (("buffers", 0, "uri"), "/dev/zero", ("buffers.0.uri", "/dev/zero", "beside")),
        (("buffers", 0, "uri"), "../../etc/passwd", ("buffers.0.uri", "beside")),
        (("animations", 0, "channels", 0, "sampler"), 4, ("animations.0.channels.0.sampler", "1 samplers")),
        (("animations", 0, "samplers"), None, ("animations.0.samplers",)),
        (("asset",), {"version": "1.0"}, ("version '1.0'",)),
        (("asset",), {"version": 2}, ("asset.version", "no text")),
        (("nodes", 1, "name"), "\ud800", ("nodes.1.name", "half a character")),
        (("meshes",), 3, ("meshes",)),
    ],
)
def test_a_broken_gltf_is_told_by_its_entry(tmp_path, way, value, words):
    tree = gltf()
    at = tree
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = value
    refused(check_gltf, written(tmp_path / "walk.gltf", tree), *words)


def test_a_gltf_that_is_no_json_is_told_by_line_or_byte(tmp_path):
    refused(check_gltf, written(tmp_path / "walk.gltf", '{\n "asset": {]}'), "line 2, column")
    refused(check_gltf, written(tmp_path / "walk.gltf", "[" * 100_000), "JSON")
    path = tmp_path / "walk.glb"
    path.write_bytes(b"glTF" + struct.pack("<IIII", 2, 24, 4, 0x4E4F534A) + b'{"a"')
    refused(check_gltf, path, "byte 24")
    path.write_bytes(path.read_bytes()[:-1])
    refused(check_gltf, path, "23 bytes", "24")
