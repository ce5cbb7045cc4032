# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that tests write by hand, and how they are refused."""

import json

import pytest

from sinew.core.errors import BadFile


def refused(check, path, *words):
    with pytest.raises(BadFile) as caught:
        check(path)
    said = str(caught.value)
    assert "\n" not in said
    for word in words:
        assert word in said, said


def gltf():
    return {
        "asset": {"version": "2.0"},
        "nodes": [{"name": "Hips", "children": [1]}, {"name": "Arm", "rotation": [0, 0, 0, 1]}],
        "skins": [{"joints": [0, 1]}],
        "scenes": [{"nodes": [0]}],
        "buffers": [{"byteLength": 32, "uri": "data:application/octet-stream;base64," + "A" * 44}],
        "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 24}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3"},
        ],
        "animations": [
            {
                "samplers": [{"input": 0, "output": 1}],
                "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
            }
        ],
    }


def written(path, tree):
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree), encoding="utf-8")
    return path
