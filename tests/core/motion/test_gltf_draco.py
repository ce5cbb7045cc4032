# SPDX-License-Identifier: GPL-3.0-or-later
"""A packed mesh of a glTF file unpacks to what its accessors say, or is refused."""

import base64
import json
import struct

import pytest

from sinew.core.motion.io.gltf_check import check_gltf

from .written_files import refused, written

# As Blender's exporter packs a grid of 152 vertices and 200 faces.
EDGEBREAKER = bytes.fromhex("445241434f020201010000009801c80102c80114003d7f9f569f6a559faa5655")
SEQUENTIAL = b"DRACO\x02\x02\x01\x00\x00\x00" + b"\xc8\x01" + b"\x98\x01" + bytes(17)


def tree(head, said=600, where="data"):
    """A mesh in a buffer, which begins three bytes after its own beginning."""
    data = b"abc" + head
    uri = {"data": "data:application/octet-stream;base64," + base64.b64encode(data).decode(), "file": "mesh.bin"}
    packed = {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}}
    return {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "extensions": packed}]}],
        "accessors": [
            {"componentType": 5126, "type": "VEC3", "count": 152},
            {"componentType": 5123, "type": "SCALAR", "count": said},
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": 3, "byteLength": len(head)}],
        "buffers": [{"byteLength": len(data)} | ({"uri": uri[where]} if where in uri else {})],
    }, data


def saved(tmp_path, head, said=600, where="data"):
    found, data = tree(head, said, where)
    (tmp_path / "mesh.bin").write_bytes(data)
    if where != "glb":
        return written(tmp_path / "mesh.gltf", found)
    text = json.dumps(found).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    (tmp_path / "mesh.glb").write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
    return tmp_path / "mesh.glb"


@pytest.mark.parametrize("where", ["data", "file", "glb"])
@pytest.mark.parametrize("head", [EDGEBREAKER, SEQUENTIAL])
def test_faces_are_counted_wherever_the_mesh_is(tmp_path, head, where):
    check_gltf(saved(tmp_path, head, where=where))
    path = saved(tmp_path, head, said=30, where=where)
    refused(check_gltf, path, "meshes.0.primitives.0", "600 corners", "its accessor says 30", "without compression")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"DRACO",
        EDGEBREAKER.replace(b"DRACO", b"DRACA"),
        EDGEBREAKER.replace(b"\x02\x02\x01\x01", b"\x01\x00\x01\x01"),  # an older form
        EDGEBREAKER.replace(b"\x02\x02\x01\x01", b"\x02\x02\x00\x01"),  # points without faces
        EDGEBREAKER.replace(b"\x02\x02\x01\x01", b"\x02\x02\x01\x07"),
        EDGEBREAKER[:10] + b"\x80" + EDGEBREAKER[11:],  # with a description before the counts
    ],
)
def test_what_is_of_an_unknown_form_is_not_unpacked(tmp_path, head):
    refused(check_gltf, saved(tmp_path, head), "meshes.0.primitives.0", "unknown form", "without compression")


@pytest.mark.parametrize("view", [None, 7, True, "0"])
def test_a_mesh_that_is_nowhere_is_refused(tmp_path, view):
    found, _ = tree(EDGEBREAKER)
    found["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"]["bufferView"] = view
    refused(check_gltf, written(tmp_path / "mesh.gltf", found), "does not say where")
