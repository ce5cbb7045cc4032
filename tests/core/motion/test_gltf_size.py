# SPDX-License-Identifier: GPL-3.0-or-later
"""A glTF file that would take far more memory than it has numbers is refused before Blender opens it."""

import struct

import pytest

from sinew.core.motion.io.gltf_check import check_gltf

from .written_files import gltf, refused, written

NUMBERS = {"componentType": 5126, "type": "VEC3"}
TRIANGLE = {"attributes": {"POSITION": 0}}


def scene(count, primitives=(TRIANGLE,), nodes=({"mesh": 0},), **more):
    """A mesh of so many vertices that are nowhere in the file, on some nodes."""
    return {
        "asset": {"version": "2.0"},
        "nodes": list(nodes),
        "meshes": [{"primitives": list(primitives)}],
        "accessors": [{**NUMBERS, "count": count}],
        **more,
    }


def moved(count, times):
    """A turn of so many keys, which so many nodes are given."""
    tree = gltf()
    tree["nodes"] += [{} for _ in range(times)]
    tree["accessors"] = [{**NUMBERS, "count": count}, {**NUMBERS, "count": count}]
    target = {"node": 1, "path": "rotation"}
    tree["animations"][0]["channels"] = [{"sampler": 0, "target": target | {"node": node}} for node in range(times)]
    return tree


def instances(count):
    copies = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 1}}}
    tree = scene(3, nodes=[{"mesh": 0, "extensions": copies}])
    tree["accessors"].append({**NUMBERS, "count": count})
    return tree


def strip(count):
    tree = scene(3, [TRIANGLE | {"indices": 1, "mode": 5}])
    tree["accessors"].append({"componentType": 5121, "type": "SCALAR", "count": count})
    return tree


def filled(count):
    """Every attribute that there is on one vertex, which Blender fills in for all others of its mesh."""
    names = [f"{name}_{number}" for name in ("TEXCOORD", "COLOR", "JOINTS", "WEIGHTS") for number in range(8)]
    tree = scene(count, [TRIANGLE, {"attributes": dict.fromkeys(("POSITION", *names), 1)}])
    tree["accessors"].append({**NUMBERS, "count": 1})
    return tree


def on_skins(count, skins):
    nodes = [{"mesh": 0, "skin": number} for number in range(skins)]
    return scene(count, nodes=nodes, skins=[{"joints": [0]} for _ in range(skins)])


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (scene(5_000_000), ("without a bufferView", "57 MB", "at most 16 MB", "Export only")),
        (scene(500_000_000), ("accessors.0.count", "500000000")),
        (scene(1000, [TRIANGLE] * 1001), ("1001 primitives", "at most 1000")),
        (scene(100_000, [TRIANGLE] * 20), ("of 0 MB of numbers its entries take 31 MB", "at most 16 MB")),
        (scene(100_000, [TRIANGLE] * 200), ("meshes and animations take 305 MB", "at most 256 MB")),
        (scene(100_000, [TRIANGLE | {"targets": [{}] * 30}]), ("its entries take",)),
        (scene(3, [TRIANGLE | {"targets": [{}] * 2001}]), ("2001 shapes of one mesh", "at most 2000")),
        (filled(100_000), ("its entries take",)),
        (on_skins(100_000, 20), ("its entries take 31 MB",)),
        (strip(3_000_000), ("its entries take",)),
        (moved(10_000, 100), ("its entries take",)),
        (instances(20_000), ("20001 nodes, with all instances", "at most 20000")),
        (scene(3, materials=[{}] * 2001), ("2001 materials", "at most 2000")),
        (scene(3, nodes=[{}] * 20_001), ("'nodes' has 20001 entries", "at most 20000")),
        (scene(3) | {"extras": [[]] * 2_000_000}, ("4000017 entries", "at most 2000000")),
    ],
)
def test_a_gltf_that_would_take_far_more_than_it_has_is_refused(tmp_path, tree, words):
    refused(check_gltf, written(tmp_path / "walk.gltf", tree), *words)


@pytest.mark.parametrize("shared", ["image", "buffer"])
def test_what_a_gltf_has_once_is_not_taken_often(tmp_path, shared):
    (tmp_path / "big.bin").write_bytes(bytes(4 << 20))
    buffer = {"uri": "big.bin", "byteLength": 4 << 20}
    tree = scene(3, buffers=[buffer], bufferViews=[{"buffer": 0, "byteLength": 4 << 20}])
    check_gltf(written(tmp_path / "walk.gltf", tree | {"images": [{"bufferView": 0}]}))
    if shared == "image":
        words, tree = (
            ("of 4 MB of numbers its entries take 40 MB", "at most 24 MB"),
            tree | {"images": [{"bufferView": 0}] * 10},
        )
    else:
        words, tree = ("buffers.1.uri", "another buffer"), tree | {"buffers": [buffer, buffer | {"uri": "./big.bin"}]}
    refused(check_gltf, written(tmp_path / "walk.gltf", tree), *words)


def test_a_gltf_of_ten_minutes_passes(tmp_path):
    """Sixty bones at 60 frames a second, each turned, with the same times for all of them."""
    bones, keys = 60, 36_000
    with (tmp_path / "walk.bin").open("wb") as stream:
        stream.truncate(keys * 4 + bones * keys * 16)
    tree = gltf()
    tree["nodes"] = [{"children": list(range(1, bones))}, *({} for _ in range(bones - 1))]
    tree["buffers"] = [{"uri": "walk.bin", "byteLength": keys * 4 + bones * keys * 16}]
    tree["bufferViews"] = [{"buffer": 0, "byteLength": keys * 4}]
    tree["accessors"] = [{"bufferView": 0, "componentType": 5126, "type": "SCALAR", "count": keys}]
    for bone in range(bones):
        tree["bufferViews"].append({"buffer": 0, "byteOffset": keys * (4 + 16 * bone), "byteLength": keys * 16})
        tree["accessors"].append({"bufferView": bone + 1, "componentType": 5126, "type": "VEC4", "count": keys})
    tree["animations"][0]["samplers"] = [{"input": 0, "output": bone + 1} for bone in range(bones)]
    path = {"path": "rotation"}
    tree["animations"][0]["channels"] = [{"sampler": bone, "target": path | {"node": bone}} for bone in range(bones)]
    check_gltf(written(tmp_path / "walk.gltf", tree))


@pytest.mark.parametrize(
    ("sparse", "words"),
    [
        (3, ("accessors.1.sparse", "where its indices and values are")),
        ({"count": 1, "indices": {"bufferView": 9}, "values": {"bufferView": 0}}, ("accessors.1.sparse",)),
        ({"count": 10**9}, ("accessors.1.sparse.count", "1000000000", "2 to stand in for")),
        ({"indices": {"bufferView": 0, "componentType": 1}}, ("accessors.1.sparse.indices", "unknown kind")),
        ({"values": {"bufferView": 0, "byteOffset": 4}}, ("accessors.1.sparse.values", "wants 16 bytes")),
    ],
)
def test_numbers_of_a_gltf_that_stand_in_for_others_are_there(tmp_path, sparse, words):
    whole = {"count": 1, "indices": {"bufferView": 0, "componentType": 5125}, "values": {"bufferView": 1}}
    tree = gltf()
    tree["accessors"][1]["sparse"] = whole
    check_gltf(written(tmp_path / "walk.gltf", tree))
    tree["accessors"][1]["sparse"] = whole | sparse if isinstance(sparse, dict) else sparse
    refused(check_gltf, written(tmp_path / "walk.gltf", tree), *words)


def test_the_json_of_a_gltf_has_a_limit(tmp_path, monkeypatch):
    """Which is told without reading more of it than its first bytes."""
    path = tmp_path / "walk.gltf"
    with path.open("wb") as stream:
        stream.truncate(65 << 20)
    refused(check_gltf, path, "65 MB", "at most 64 MB", ".glb")
    path.write_bytes(b"glTF" + struct.pack("<IIII", 2, 66 << 20, 65 << 20, 0x4E4F534A))
    with path.open("r+b") as stream:
        stream.truncate(66 << 20)
    refused(check_gltf, path, "65 MB", "at most 64 MB")
